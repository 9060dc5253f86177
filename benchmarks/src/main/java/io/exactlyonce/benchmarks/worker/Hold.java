package io.exactlyonce.benchmarks.worker;

import java.util.List;

/**
 * Take messages, and let their handlers run for a while: one part after the other.
 *
 * @param messages in the queue
 * @param parts how many measurements
 * @param partSeconds length of each
 */
public record Hold(int messages, int parts, long partSeconds) {

    /**
     * How it went.
     *
     * @param parts measurements
     * @param heapBytes that each message keeps from being collected
     * @param duplicates how many times too often messages were handled
     * @param lost messages that were not handled
     */
    public record Result(List<Part> parts, double heapBytes, long duplicates, long lost) {}

    /**
     * A measurement.
     *
     * @param changes SQS requests that changed visibility
     * @param corePercent processor time, of one core
     */
    public record Part(long changes, double corePercent) {}
}
