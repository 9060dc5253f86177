package io.exactlyonce.benchmarks.worker;

/**
 * A turn's work: handle what is in the queue.
 *
 * @param messages in the queue
 * @param orders different ones among them
 */
public record Drain(int messages, int orders) {

    /**
     * How it went.
     *
     * @param rate messages per second
     * @param duplicates how many times too often orders were handled
     * @param lost orders that were not handled
     * @param undeleted messages that the queue still has
     * @param medianMicros median time from a message's receive to its deletion's begin, 0 if it was not measured
     * @param p99Micros its 99th percentile
     * @param processorMicros this process's processor time for each message
     * @param compilerMicros that of its JIT compiler's threads alone
     * @param allocatedBytes heap that its threads allocated for each message
     * @param storeRequests requests to DynamoDB for each message, 0 where claims are not there
     * @param storeWrites writes of items there for each message
     */
    public record Result(
            double rate,
            long duplicates,
            long lost,
            int undeleted,
            double medianMicros,
            double p99Micros,
            double processorMicros,
            double compilerMicros,
            double allocatedBytes,
            double storeRequests,
            double storeWrites) {}
}
