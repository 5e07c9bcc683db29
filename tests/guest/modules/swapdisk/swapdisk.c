// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/swapdisk: a disk of the guest's own memory, for a kernel that has no driver of disks. What
 * is swapped to it leaves the program that had it, and faults when it is wanted again.
 */
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

static unsigned int megabytes = 64;
module_param(megabytes, uint, 0444);

static struct gendisk *disk;
static void *bytes;

static void swapdisk_submit_bio(struct bio *bio)
{
	void *at = bytes + (bio->bi_iter.bi_sector << SECTOR_SHIFT);
	struct bio_vec vec;
	struct bvec_iter iter;

	bio_for_each_segment(vec, bio, iter) {
		if (op_is_write(bio_op(bio)))
			memcpy_from_bvec(at, &vec);
		else
			memcpy_to_bvec(&vec, at);
		at += vec.bv_len;
	}
	bio_endio(bio);
}

static const struct block_device_operations swapdisk_operations = {
	.owner		= THIS_MODULE,
	.submit_bio	= swapdisk_submit_bio,
};

static int __init swapdisk_init(void)
{
	/* So whole pages are copied. */
	struct queue_limits limits = {
		.logical_block_size = PAGE_SIZE, .physical_block_size = PAGE_SIZE,
		.features = BLK_FEAT_SYNCHRONOUS,
	};
	int ret = -ENOMEM;

	bytes = vzalloc((unsigned long)megabytes << 20);
	if (!bytes)
		return ret;
	disk = blk_alloc_disk(&limits, NUMA_NO_NODE);
	if (IS_ERR(disk)) {
		ret = PTR_ERR(disk);
		goto free;
	}
	disk->fops = &swapdisk_operations;
	strscpy(disk->disk_name, "swapdisk", sizeof(disk->disk_name));
	set_capacity(disk, (sector_t)megabytes << (20 - SECTOR_SHIFT));
	ret = add_disk(disk);
	if (!ret)
		return 0;
	put_disk(disk);
free:
	vfree(bytes);
	return ret;
}
module_init(swapdisk_init);

static void __exit swapdisk_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	vfree(bytes);
}
module_exit(swapdisk_exit);

MODULE_DESCRIPTION("A disk in memory");
MODULE_LICENSE("GPL");
