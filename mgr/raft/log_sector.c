/* SPDX-License-Identifier: BSD-2-Clause */
/* log_sector.c - see log_sector.h. */
#include "mgr/raft/log_sector.h"

#include <endian.h>
#include <string.h>

#include "common/util/crc32c.h"

/* Never 0, so that no sealed sector looks empty. */
static uint32_t sector_crc(const struct log_place *at, const uint8_t *content)
{
	uint64_t place[3] = { htole64(at->segment), htole64(at->batch),
			      htole64(at->sector) };
	uint32_t crc = crc32c(crc32c(0, place, sizeof(place)), content,
			      LOG_SECTOR_ROOM);

	return crc ? crc : 1;
}

void log_sectors_seal(const struct log_place *at, const void *data, size_t len,
		      void *out)
{
	struct log_place place = *at;
	const uint8_t *from = data;
	uint8_t *sector = out;

	for (; len; place.sector++, sector += LOG_SECTOR) {
		size_t n = len < LOG_SECTOR_ROOM ? len : LOG_SECTOR_ROOM;
		uint32_t crc;

		memcpy(sector + 4, from, n);
		memset(sector + 4 + n, 0, LOG_SECTOR_ROOM - n);
		crc = htole32(sector_crc(&place, sector + 4));
		memcpy(sector, &crc, 4);
		from += n;
		len -= n;
	}
}

bool log_sector_fits(const struct log_place *at, const void *sector)
{
	const uint8_t *bytes = sector;
	uint32_t crc;

	memcpy(&crc, bytes, 4);
	return le32toh(crc) == sector_crc(at, bytes + 4);
}

bool log_sector_is_empty(const void *sector)
{
	static const uint8_t zeros[LOG_SECTOR];

	return !memcmp(sector, zeros, LOG_SECTOR);
}

void log_sectors_read(const void *sectors, size_t from, void *data, size_t len)
{
	const uint8_t *bytes = sectors;
	uint8_t *to = data;

	while (len) {
		size_t at = from % LOG_SECTOR_ROOM;
		size_t n = LOG_SECTOR_ROOM - at;

		n = n < len ? n : len;
		memcpy(to, bytes + from / LOG_SECTOR_ROOM * LOG_SECTOR + 4 + at,
		       n);
		from += n;
		to += n;
		len -= n;
	}
}
