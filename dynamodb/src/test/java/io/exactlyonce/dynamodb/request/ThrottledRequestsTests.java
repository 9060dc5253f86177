package io.exactlyonce.dynamodb.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.dynamodb.request.ThrottledRequests.Reason;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.InterceptorContext;
import software.amazon.awssdk.core.internal.interceptor.DefaultFailedExecutionContext;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;

class ThrottledRequestsTests {

    private final ThrottledRequests throttled = new ThrottledRequests();

    @Test
    void statementsAreCountedByTheirCodes() {
        answered(statements(
                BatchStatementErrorCodeEnum.PROVISIONED_THROUGHPUT_EXCEEDED,
                BatchStatementErrorCodeEnum.THROTTLING_ERROR,
                BatchStatementErrorCodeEnum.REQUEST_LIMIT_EXCEEDED,
                BatchStatementErrorCodeEnum.CONDITIONAL_CHECK_FAILED));

        assertThat(counts()).containsExactly(1L, 2L, 0L, 0L);
    }

    @Test
    void statementsThatWereTakenAreNotCounted() {
        answered(BatchExecuteStatementResponse.builder()
                .responses(BatchStatementResponse.builder().build())
                .build());

        assertThat(counts()).containsOnly(0L);
    }

    @Test
    void keysThatAreLeftUnreadAreCounted() {
        Map<String, AttributeValue> key = Map.of("pk", AttributeValue.fromS("x"));
        answered(BatchGetItemResponse.builder()
                .unprocessedKeys(Map.of(
                        "claims",
                        KeysAndAttributes.builder().keys(List.of(key, key)).build()))
                .build());

        assertThat(counts()).containsExactly(0L, 0L, 2L, 0L);
    }

    @Test
    void requestsThatTheSdkGaveUpAreCountedIfTheyWereThrottled() {
        failed(AwsServiceException.builder()
                .awsErrorDetails(AwsErrorDetails.builder()
                        .errorCode("ProvisionedThroughputExceededException")
                        .build())
                .build());
        failed(ResourceNotFoundException.builder().build());
        failed(new IllegalStateException("not the service's"));

        assertThat(counts()).containsExactly(0L, 0L, 0L, 1L);
    }

    private static BatchExecuteStatementResponse statements(BatchStatementErrorCodeEnum... codes) {
        return BatchExecuteStatementResponse.builder()
                .responses(Arrays.stream(codes)
                        .map(code -> BatchStatementResponse.builder()
                                .error(error -> error.code(code))
                                .build())
                        .toList())
                .build();
    }

    private void answered(SdkResponse response) {
        throttled.afterExecution(context(response), new ExecutionAttributes());
    }

    private void failed(Throwable failure) {
        throttled.onExecutionFailure(
                DefaultFailedExecutionContext.builder()
                        .interceptorContext(InterceptorContext.builder()
                                .request(GetItemRequest.builder().build())
                                .build())
                        .exception(failure)
                        .build(),
                new ExecutionAttributes());
    }

    private static InterceptorContext context(SdkResponse response) {
        return InterceptorContext.builder()
                .request(GetItemRequest.builder().build())
                .response(response)
                .build();
    }

    private List<Long> counts() {
        return Stream.of(Reason.values()).map(throttled::count).toList();
    }
}
