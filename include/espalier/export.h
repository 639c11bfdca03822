/* The visibility of names in the shared library, for C and C++. Everything is compiled with hidden
 * visibility; only names marked ESPALIER_API are exported. */
#ifndef ESPALIER_EXPORT_H
#define ESPALIER_EXPORT_H

#if defined(__GNUC__)
#define ESPALIER_API __attribute__((visibility("default")))
/* Marks hidden members of exported types. */
#define ESPALIER_HIDDEN __attribute__((visibility("hidden")))
#else
#define ESPALIER_API
#define ESPALIER_HIDDEN
#endif

#endif
