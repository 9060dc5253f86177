package io.exactlyonce.audit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequest;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.HttpMetric;
import software.amazon.awssdk.metrics.MetricCollector;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityRequest;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;
import software.amazon.awssdk.services.sqs.model.StartMessageMoveTaskRequest;
import software.amazon.awssdk.services.sqs.model.StartMessageMoveTaskResponse;

/** An SQS client whose queues have the attributes and the rights that a test sets. */
public final class ScriptedSqs implements SqsAsyncClient {

    public static final String ORDERS = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
    static final String DEAD = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders-dead";

    final Map<String, Map<String, String>> queues = new HashMap<>();
    final List<String> asked = new CopyOnWriteArrayList<>();

    @Nullable SqsException attributesRefusal;

    /** Requests for attributes are answered when this future completes. */
    CompletableFuture<?> answers = CompletableFuture.completedFuture(null);

    /** The limit of connections in the metrics of each request; {@code null} if a request has no metrics. */
    @Nullable Integer connections;

    /** The client's timeouts; {@code null} if the client does not show its configuration. */
    @Nullable ClientOverrideConfiguration limits;

    /**
     * Returns the answer to a request that moves all messages of a dead-letter queue. The argument is the ARN of that
     * queue.
     */
    public Function<String, CompletableFuture<StartMessageMoveTaskResponse>> moves =
            source -> CompletableFuture.completedFuture(
                    StartMessageMoveTaskResponse.builder().build());

    SqsException renewalAnswer = failure(400, "ReceiptHandleIsInvalid");

    public ScriptedSqs() {
        queues.put(ORDERS, new HashMap<>(Map.of("VisibilityTimeout", "30", "MessageRetentionPeriod", "345600")));
        queues.put(
                DEAD, new HashMap<>(Map.of("MessageRetentionPeriod", "1209600", "ApproximateNumberOfMessages", "2")));
    }

    public ScriptedSqs with(String url, String attribute, String value) {
        queues.get(url).put(attribute, value);
        return this;
    }

    public ScriptedSqs redrives(int maxReceiveCount) {
        return with(
                ORDERS,
                "RedrivePolicy",
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-central-1:123456789012:orders-dead\",\"maxReceiveCount\":\"%d\"}"
                        .formatted(maxReceiveCount));
    }

    static SqsException failure(int status, String code) {
        return (SqsException) SqsException.builder()
                .statusCode(status)
                .message(code)
                .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).build())
                .build();
    }

    @Override
    public SqsServiceClientConfiguration serviceClientConfiguration() {
        if (limits == null) {
            throw new UnsupportedOperationException();
        }
        return SqsServiceClientConfiguration.builder()
                .overrideConfiguration(limits)
                .build();
    }

    @Override
    public CompletableFuture<GetQueueAttributesResponse> getQueueAttributes(GetQueueAttributesRequest request) {
        asked.add("attributes " + request.queueUrl());
        measure(request);
        if (attributesRefusal != null) {
            return CompletableFuture.failedFuture(attributesRefusal);
        }
        Map<QueueAttributeName, String> answered = new HashMap<>();
        queues.get(request.queueUrl())
                .forEach((name, value) -> answered.put(QueueAttributeName.fromValue(name), value));
        return answers.thenApply(answer ->
                GetQueueAttributesResponse.builder().attributes(answered).build());
    }

    private void measure(AwsRequest request) {
        if (connections != null) {
            MetricCollector call = MetricCollector.create("ApiCall");
            call.createChild("ApiCallAttempt")
                    .createChild("HttpClient")
                    .reportMetric(HttpMetric.MAX_CONCURRENCY, connections);
            request.overrideConfiguration()
                    .ifPresent(limits ->
                            limits.metricPublishers().forEach(publisher -> publisher.publish(call.collect())));
        }
    }

    @Override
    public CompletableFuture<GetQueueUrlResponse> getQueueUrl(GetQueueUrlRequest request) {
        asked.add("url %s of %s".formatted(request.queueName(), request.queueOwnerAWSAccountId()));
        return CompletableFuture.completedFuture(
                GetQueueUrlResponse.builder().queueUrl(DEAD).build());
    }

    @Override
    public CompletableFuture<ChangeMessageVisibilityResponse> changeMessageVisibility(
            ChangeMessageVisibilityRequest request) {
        asked.add("visibility " + request.receiptHandle());
        measure(request);
        return CompletableFuture.failedFuture(renewalAnswer);
    }

    @Override
    public CompletableFuture<StartMessageMoveTaskResponse> startMessageMoveTask(StartMessageMoveTaskRequest request) {
        return moves.apply(request.sourceArn());
    }

    @Override
    public String serviceName() {
        return "sqs";
    }

    @Override
    public void close() {}
}
