package io.exactlyonce.benchmarks.worker;

import java.util.concurrent.atomic.LongAdder;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;

/** Counts requests that change visibility, for single messages and for batches. */
class SqsRequestCounts {

    private final LongAdder changes = new LongAdder();

    void count(SdkRequest request) {
        if (request instanceof ChangeMessageVisibilityRequest
                || request instanceof ChangeMessageVisibilityBatchRequest) {
            changes.increment();
        }
    }

    long changes() {
        return changes.sum();
    }
}
