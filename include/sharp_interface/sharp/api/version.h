/* Which version of the interface sharp_coll.h beside this file describes. */
#ifndef SHARP_VERSION_H_
#define SHARP_VERSION_H_

#define SHARP_MAJOR_BIT 24
#define SHARP_MINOR_BIT 16
#define SHARP_VERSION(major, minor) (((major) << SHARP_MAJOR_BIT) | ((minor) << SHARP_MINOR_BIT))
#define SHARP_API SHARP_VERSION(3, 6)

#endif
