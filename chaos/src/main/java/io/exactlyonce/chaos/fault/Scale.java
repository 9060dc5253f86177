package io.exactlyonce.chaos.fault;

import java.time.Duration;

/**
 * The size of a run.
 *
 * @param messages the number of messages, if the machine is fast enough
 * @param workers the number of JVMs at the same time
 * @param faults the time in which faults happen
 * @param kills number of SIGKILLs, half of them at chosen points
 * @param freezes number of SIGSTOPs for longer than visibility timeout and lease
 * @param collections number of garbage collections of the same length
 * @param stops number of graceful shutdowns
 * @param clockSteps number of steps of a worker's wall clock, by up to an hour
 * @param restarts number of restarts of the primary after SIGKILL
 * @param outages number of outages of SQS
 * @param failovers number of failovers, every other one to a replica that lacks commits
 * @param lags number of times that the replica lags
 * @param fills number of times that the primary's disk is filled
 * @param partitions number of partitions between workers and servers
 * @param troubles number of faults of DynamoDB
 * @param drain the longest time from the last fault until all is done except for messages of listeners that call
 *     {@code once(..)}
 * @param onceDrain how much longer the messages of listeners that call {@code once(..)} may take
 */
public record Scale(
        int messages,
        int workers,
        Duration faults,
        int kills,
        int freezes,
        int collections,
        int stops,
        int clockSteps,
        int restarts,
        int outages,
        int failovers,
        int lags,
        int fills,
        int partitions,
        int troubles,
        Duration drain,
        Duration onceDrain) {

    private static final int MESSAGES_PER_SECOND = 30;

    /** The lease of a claim by {@code once(..)}, 30 s, and the second after which its message is redelivered. */
    private static final Duration LEASE_OF_ONCE = Duration.ofSeconds(31);

    /**
     * How often a message waits for such a lease. A handler that calls {@code once(..)} can outlive the visibility
     * timeout of 4 s. SQS then redelivers the message while its claim is held, and the redelivery waits until the lease
     * ends. A message has eight receives, so this can happen four times.
     */
    private static final int WAITS_FOR_A_LEASE = 4;

    /** Returns the scale of a run of a few minutes. */
    public static Scale small() {
        Duration drain = Duration.ofMinutes(1);
        return new Scale(4_000, 2, Duration.ofSeconds(75), 10, 3, 2, 2, 2, 2, 1, 2, 1, 1, 6, 0, drain, waits(0));
    }

    /** Returns the scale of a run of less than half an hour. */
    public static Scale large() {
        Duration drain = Duration.ofMinutes(2);
        return new Scale(
                101_000, 4, Duration.ofMinutes(18), 104, 40, 14, 10, 10, 9, 4, 6, 5, 4, 24, 0, drain, waits(0));
    }

    /** Returns {@link #small()} with faults of DynamoDB instead of PostgreSQL. */
    public static Scale smallOnDynamoDb() {
        return small().onDynamoDb(2_400, 6);
    }

    /** Returns {@link #large()} with faults of DynamoDB instead of PostgreSQL. */
    public static Scale largeOnDynamoDb() {
        return large().onDynamoDb(101_000, 48);
    }

    /** Returns a scale without faults, with a bounded load, for the given time. */
    public static Scale soak(Duration time) {
        int messages = Math.toIntExact(time.toSeconds() * MESSAGES_PER_SECOND);
        return new Scale(messages, 2, time, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Duration.ofMinutes(1), waits(0));
    }

    private Scale onDynamoDb(int messagesThere, int troublesThere) {
        return new Scale(
                messagesThere,
                workers,
                faults,
                kills,
                freezes,
                collections,
                stops,
                clockSteps,
                0,
                outages,
                0,
                0,
                0,
                partitions,
                troublesThere,
                drain,
                waits(workers + 1));
    }

    /**
     * Returns how long a message waits for leases: four times because of its own handler, and this number of times
     * because of workers that died. With DynamoDB, each worker may have to see the claim of a dead worker unchanged for
     * its lease, and a message that is redelivered meanwhile waits once more.
     */
    private static Duration waits(int becauseOfDeadWorkers) {
        return LEASE_OF_ONCE.multipliedBy(WAITS_FOR_A_LEASE + becauseOfDeadWorkers);
    }

    /** Returns the longest time from the last fault until all is done. */
    public Duration longestDrain() {
        return drain.plus(onceDrain);
    }

    /**
     * Returns the time limit of a round of this number of messages, so that all rounds together last as long as the
     * faults.
     */
    public long millisPerRound(int round) {
        return faults.toMillis() * round / messages;
    }

    /** Returns the longest time for faults and sending. */
    public Duration longest() {
        return faults.multipliedBy(5).dividedBy(4).plusSeconds(30);
    }
}
