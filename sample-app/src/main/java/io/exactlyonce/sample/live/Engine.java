package io.exactlyonce.sample.live;

/**
 * The library's own meters, added up over all workers. A killed worker counts with its last values.
 *
 * @param claims keys that were free and were claimed
 * @param suppressed duplicates of completed keys, deleted without a handler
 * @param waited deliveries that waited for the key's owner
 * @param mismatches messages that were refused because their key is completed for another body
 * @param windowRenewals renewals of visibility timeouts
 * @param leaseRenewals renewals of leases
 * @param takeovers keys of dead workers that other workers claimed
 * @param utilization p95 / visibility timeout over five minutes, of the worker with the highest value
 * @param windowSeconds the visibility timeout that the workers have read
 * @param recommendedSeconds the recommended visibility timeout
 * @param replicaLagSeconds the lag of the replica
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
