package io.exactlyonce.benchmarks.worker;

/**
 * A turn's task: handle all messages in the queue.
 *
 * @param messages the number of messages in the queue
 * @param orders the number of different orders among them
 */
public record Drain(int messages, int orders) {

    /**
     * The result.
     *
     * @param rate messages per second
     * @param duplicates the number of handler runs beyond one per order
     * @param lost the number of orders that were not handled
     * @param undeleted the number of messages that stayed in the queue
     * @param medianMicros the median time from a message's receive to the start of its deletion; 0 if not measured
     * @param p99Micros the 99th percentile of this time
     * @param processorMicros this process's processor time per message
     * @param compilerMicros the same for the threads of its JIT compiler alone
     * @param allocatedBytes the heap that its threads allocated per message
     * @param storeRequests requests to DynamoDB per message; 0 if claims are not there
     * @param storeWrites writes of DynamoDB items per message
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
