/* What a Fortran array is, whatever its type and rank: through the descriptors that Fortran hands to C
 * (ISO/IEC TS 29113). Compiled by the companion of the Fortran compiler. */
#include <ISO_Fortran_binding.h>
#include <stdint.h>

/* As espalier_c.f90 has it. */
typedef struct array {
    void* address;
    int type;        /* 's', 'd', 'c', 'z'; 'i' and 'l' for 32- and 64-bit integers; else 0 */
    int in_order;    /* The entries of a column follow each other. */
    int64_t rows;    /* Of a vector: its entries. */
    int64_t columns; /* Of a vector: 1. */
    int64_t leading; /* From one column to the next, in entries. */
} array;

void espalier_fortran_array(CFI_cdesc_t const* given, array* found);

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

void espalier_fortran_array(CFI_cdesc_t const* given, array* found) {
    array const nothing = {0};
    CFI_index_t const size = (CFI_index_t)given->elem_len;
    *found = nothing;
    if (given->rank < 1 || given->rank > 2 || size <= 0) return;
    found->address = given->base_addr;
    found->type = letter_of(given);
    found->rows = given->dim[0].extent;
    found->columns = given->rank == 2 ? given->dim[1].extent : 1;
    found->leading = found->rows > 1 ? found->rows : 1;
    found->in_order = found->rows <= 1 || given->dim[0].sm == size;
    if (found->columns > 1) {
        CFI_index_t const step = given->dim[1].sm;
        found->in_order = found->in_order && step % size == 0 && step / size >= found->leading;
        found->leading = step / size;
    }
}
