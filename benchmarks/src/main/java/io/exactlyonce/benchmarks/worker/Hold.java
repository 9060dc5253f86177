package io.exactlyonce.benchmarks.worker;

import java.util.List;

/**
 * A task: receive messages, and let their handlers run for several consecutive parts.
 *
 * @param messages the number of messages in the queue
 * @param parts the number of measurements
 * @param partSeconds the length of each measurement
 */
public record Hold(int messages, int parts, long partSeconds) {

    /**
     * The result.
     *
     * @param parts the measurements
     * @param heapBytes the heap that each message keeps in use
     * @param duplicates the number of handler runs beyond one per message
     * @param lost the number of messages that were not handled
     */
    public record Result(List<Part> parts, double heapBytes, long duplicates, long lost) {}

    /**
     * A measurement.
     *
     * @param changes the number of SQS requests that change visibility
     * @param corePercent the processor time, in percent of one core
     */
    public record Part(long changes, double corePercent) {}
}
