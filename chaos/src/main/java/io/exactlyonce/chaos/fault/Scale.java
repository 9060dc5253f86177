package io.exactlyonce.chaos.fault;

import java.time.Duration;

/**
 * How much of everything.
 *
 * @param messages how many are sent, if the machine is fast enough
 * @param workers JVMs at a time
 * @param faults time in which faults happen
 * @param kills SIGKILLs, half of them at chosen points
 * @param freezes SIGSTOPs for longer than window and lease
 * @param collections garbage collections for as long
 * @param stops shut-downs in good order
 * @param clockSteps of a worker's wall clock, by up to an hour
 * @param restarts of the primary, by SIGKILL
 * @param outages of SQS
 * @param failovers every other one to a replica that lacks commits
 * @param lags of the replica
 * @param fills of the primary's disk
 * @param partitions between workers and servers
 * @param troubles of DynamoDB
 * @param drain longest time from the last fault until all is done but what {@code execute} holds
 * @param observation by how much that may take longer
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
        Duration observation) {

    private static final int MESSAGES_PER_SECOND = 30;

    /**
     * In DynamoDB, the claim of a worker without a clock is taken over by one that has seen it unchanged for its lease of 30 s. What
     * {@code execute} holds comes back a second after that, at any of the workers: each of them may see it for the first time. What is
     * redelivered while the last of them handles it comes back once more.
     */
    private static final Duration OBSERVATION = Duration.ofSeconds(31);

    /** A few minutes. */
    public static Scale small() {
        Duration drain = Duration.ofMinutes(1);
        return new Scale(4_000, 2, Duration.ofSeconds(75), 10, 3, 2, 2, 2, 2, 1, 2, 1, 1, 6, 0, drain, Duration.ZERO);
    }

    /** Less than half an hour. */
    public static Scale large() {
        Duration drain = Duration.ofMinutes(2);
        return new Scale(
                101_000, 4, Duration.ofMinutes(18), 104, 40, 14, 10, 10, 9, 4, 6, 5, 4, 24, 0, drain, Duration.ZERO);
    }

    /** As {@link #small()}, with troubles of DynamoDB instead of PostgreSQL's. */
    public static Scale smallOnDynamoDb() {
        return small().onDynamoDb(2_400, 6);
    }

    /** As {@link #large()}, with troubles of DynamoDB instead of PostgreSQL's. */
    public static Scale largeOnDynamoDb() {
        return large().onDynamoDb(101_000, 48);
    }

    /** No faults, and a bounded load, for as long as it takes. */
    public static Scale soak(Duration time) {
        int messages = Math.toIntExact(time.toSeconds() * MESSAGES_PER_SECOND);
        return new Scale(messages, 2, time, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, Duration.ofMinutes(1), Duration.ZERO);
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
                OBSERVATION.multipliedBy(workers + 1));
    }

    /** Returns the longest time from the last fault until all is done. */
    public Duration longestDrain() {
        return drain.plus(observation);
    }

    /** Returns how long so many messages may take, for all of them to last as long as the faults. */
    public long millisPerRound(int round) {
        return faults.toMillis() * round / messages;
    }

    /** Returns the longest time for faults and sending. */
    public Duration longest() {
        return faults.multipliedBy(5).dividedBy(4).plusSeconds(30);
    }
}
