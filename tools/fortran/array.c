/* Describes a Fortran array of any type and rank by its C descriptor (ISO/IEC TS 29113). Compiled by the C
 * compiler that belongs to the Fortran compiler. */
#include <ISO_Fortran_binding.h>
#include <stdint.h>

/* Equals the type of this name in espalier_c.f90. */
typedef struct array {
    void* address;
    int type;        /* 's', 'd', 'c', 'z'; 'i' and 'l' for 32- and 64-bit integers; otherwise 0 */
    int contiguous;  /* Whether the entries of each column are contiguous. */
    int64_t rows;    /* Number of rows, or of entries of a vector. */
    int64_t columns; /* Number of columns, 1 for a vector. */
    int64_t leading; /* Leading dimension: distance between columns, in entries. */
} array;

array espalier_fortran_array(CFI_cdesc_t const* given);

static int letter_of(CFI_cdesc_t const* given) {
    switch (given->type) {
    case CFI_type_float:
        return 's';
    case CFI_type_double:
        return 'd';
    case CFI_type_float_Complex:
        return 'c';
    case CFI_type_double_Complex:
        return 'z';
    case CFI_type_int32_t:
        return 'i';
    case CFI_type_int64_t:
        return 'l';
    default:
        return 0;
    }
}

array espalier_fortran_array(CFI_cdesc_t const* given) {
    array found = {0};
    CFI_index_t const size = (CFI_index_t)given->elem_len;
    if (given->rank < 1 || given->rank > 2 || size <= 0) return found;
    found.address = given->base_addr;
    found.type = letter_of(given);
    found.rows = given->dim[0].extent;
    found.columns = given->rank == 2 ? given->dim[1].extent : 1;
    found.leading = found.rows > 1 ? found.rows : 1;
    found.contiguous = found.rows <= 1 || given->dim[0].sm == size;
    if (found.columns > 1) {
        CFI_index_t const step = given->dim[1].sm;
        found.contiguous = found.contiguous && step % size == 0 && step / size >= found.leading;
        found.leading = step / size;
    }
    return found;
}
