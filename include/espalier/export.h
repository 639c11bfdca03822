/* Which names the shared library shows. Everything is compiled with hidden visibility; what carries
 * ESPALIER_API is seen from outside. For C and C++. */
#ifndef ESPALIER_EXPORT_H
#define ESPALIER_EXPORT_H

#if defined(__GNUC__)
#define ESPALIER_API __attribute__((visibility("default")))
/* The inside of what is seen. */
#define ESPALIER_HIDDEN __attribute__((visibility("hidden")))
#else
#define ESPALIER_API
#define ESPALIER_HIDDEN
#endif

#endif
