package io.exactlyonce.benchmarks.worker;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;

/**
 * Measures for each message how long the application has it: from the answer with the message to the request for its
 * deletion. Only polls that return one message are measured, so that the measurement costs nothing at high load.
 */
class TimeInHand {

    private final Map<String, Long> received = new ConcurrentHashMap<>();
    private final Queue<Long> nanos = new ConcurrentLinkedQueue<>();

    void begin() {
        received.clear();
        nanos.clear();
    }

    void received(ReceiveMessageResponse response) {
        if (response.messages().size() == 1) {
            received.put(response.messages().get(0).receiptHandle(), System.nanoTime());
        }
    }

    void sending(SdkRequest request) {
        if (request instanceof DeleteMessageBatchRequest deletion && !received.isEmpty()) {
            long now = System.nanoTime();
            deletion.entries().forEach(entry -> {
                Long from = received.remove(entry.receiptHandle());
                if (from != null) {
                    nanos.add(now - from);
                }
            });
        }
    }

    /** Returns a quantile; 0 if nothing was measured. */
    double micros(double quantile) {
        List<Long> sorted = nanos.stream().sorted().toList();
        return sorted.isEmpty() ? 0 : sorted.get((int) (quantile * (sorted.size() - 1))) / 1e3;
    }
}
