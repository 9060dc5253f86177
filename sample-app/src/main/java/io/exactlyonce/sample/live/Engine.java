package io.exactlyonce.sample.live;

/**
 * What the library's own meters say, of all workers together. Those of workers that were killed count as they were last
 * read.
 *
 * @param claims keys that were free and are claimed
 * @param suppressed duplicates of completed keys, deleted without a handler
 * @param waited deliveries that waited for the key's holder
 * @param mismatches messages that were refused because their key is completed for another body
 * @param windowRenewals windows made longer
 * @param leaseRenewals leases made longer
 * @param takeovers keys of workers that vanished, claimed by another
 * @param utilization p95 / window of the worker that is worst off, over five minutes
 * @param windowSeconds the window that the workers know of
 * @param recommendedSeconds the window that the queue should have
 * @param replicaLagSeconds how far the replica is behind
 */
record Engine(
        long claims,
        long suppressed,
        long waited,
        long mismatches,
        long windowRenewals,
        long leaseRenewals,
        long takeovers,
        double utilization,
        double windowSeconds,
        double recommendedSeconds,
        double replicaLagSeconds) {}
