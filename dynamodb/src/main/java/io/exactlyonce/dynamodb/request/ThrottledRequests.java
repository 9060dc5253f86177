package io.exactlyonce.dynamodb.request;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementError;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;

/**
 * Counts how often DynamoDB throttles statements, keys and whole requests. Each attempt of a statement or key is
 * counted. A whole request is counted only if the SDK's last retry is throttled, too.
 */
public final class ThrottledRequests implements ExecutionInterceptor {

    /** The kind of throttling. */
    public enum Reason {
        /** A statement exceeded the throughput of a partition or table. */
        THROUGHPUT,
        /** A statement exceeded another limit, for example of the account. */
        LIMIT,
        /** The service left a key unread. */
        UNREAD,
        /** A whole request failed, because even the SDK's last retry was throttled. */
        REQUEST
    }

    private final Map<Reason, Long> counts = new ConcurrentHashMap<>();

    /** Returns the count for a reason. */
    public long count(Reason reason) {
        return counts.getOrDefault(reason, 0L);
    }

    private void add(Reason reason, int times) {
        counts.merge(reason, (long) times, Long::sum);
    }

    @Override
    public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
        if (context.response() instanceof BatchExecuteStatementResponse written) {
            written.responses().forEach(each -> statement(each.error()));
        } else if (context.response() instanceof BatchGetItemResponse read) {
            read.unprocessedKeys()
                    .values()
                    .forEach(left -> add(Reason.UNREAD, left.keys().size()));
        }
    }

    private void statement(@Nullable BatchStatementError error) {
        if (error != null) {
            switch (Objects.requireNonNullElse(error.code(), BatchStatementErrorCodeEnum.UNKNOWN_TO_SDK_VERSION)) {
                case PROVISIONED_THROUGHPUT_EXCEEDED -> add(Reason.THROUGHPUT, 1);
                case THROTTLING_ERROR, REQUEST_LIMIT_EXCEEDED -> add(Reason.LIMIT, 1);
                default -> {}
            }
        }
    }

    @Override
    public void onExecutionFailure(Context.FailedExecution context, ExecutionAttributes attributes) {
        if (context.exception() instanceof AwsServiceException refused && refused.isThrottlingException()) {
            add(Reason.REQUEST, 1);
        }
    }
}
