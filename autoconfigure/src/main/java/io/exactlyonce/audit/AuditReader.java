package io.exactlyonce.audit;

import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.http.HttpMetric;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricPublisher;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.GetQueueUrlRequest;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Reads what the rules judge, with the listener's own client. What cannot be read is unknown, and says why; no future of
 * its fails.
 */
final class AuditReader {

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(2);

    /** A handle that SQS never gives out: who may change visibility is told that it is invalid, who may not is refused. */
    private static final String NO_HANDLE = "exactly-once-audit";

    /** What SQS says of it then; ElasticMQ calls it a parameter. */
    private static final Set<String> HANDLE_REFUSED =
            Set.of("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight");

    private final SqsAsyncClient client;
    private final String url;
    private final Connections connections = new Connections();
    private volatile boolean mayRenew;

    AuditReader(SqsQueueVisibility queue) {
        this.client = queue.client();
        this.url = queue.queueUrl();
    }

    /** Learns how many connections there may be at a time, which a client tells only with what it measures of a request. */
    private static final class Connections implements MetricPublisher {

        private volatile @Nullable Integer most;

        @Override
        public void publish(MetricCollection measured) {
            all(measured).findFirst().ifPresent(found -> most = found);
        }

        private static Stream<Integer> all(MetricCollection measured) {
            return Stream.concat(
                    measured.metricValues(HttpMetric.MAX_CONCURRENCY).stream(),
                    measured.children().stream().flatMap(Connections::all));
        }

        @Override
        public void close() {}
    }

    SqsAsyncClient client() {
        return client;
    }

    /**
     * Reads what there is to judge.
     *
     * @param polls how many queues the client polls
     * @param p99 of the listener's deliveries; {@code null} if too few have been measured
     */
    CompletableFuture<QueueFacts> read(Subscription subscription, int polls, @Nullable Duration p99) {
        CompletableFuture<Fact<QueueState>> queue = attributes(() -> CompletableFuture.completedFuture(url));
        CompletableFuture<Fact<QueueState>> deadLetters = queue.thenCompose(this::deadLetters);
        CompletableFuture<Fact<Boolean>> allowed = mayRenew();
        return CompletableFuture.allOf(queue, deadLetters, allowed)
                .thenApply(all -> new QueueFacts(
                        subscription, queue.join(), deadLetters.join(), allowed.join(), polls, connections.most, p99));
    }

    private CompletableFuture<Fact<QueueState>> deadLetters(Fact<QueueState> source) {
        return source.known()
                .flatMap(QueueState::redrive)
                .map(redrive -> attributes(() -> urlOf(redrive)))
                .orElseGet(() -> CompletableFuture.completedFuture(Fact.unknown("there is no dead-letter queue")));
    }

    private CompletableFuture<String> urlOf(QueueState.Redrive redrive) {
        GetQueueUrlRequest.Builder request =
                GetQueueUrlRequest.builder().queueName(redrive.queue()).overrideConfiguration(limits());
        redrive.account().ifPresent(request::queueOwnerAWSAccountId);
        return client.getQueueUrl(request.build()).thenApply(response -> response.queueUrl());
    }

    private CompletableFuture<Fact<QueueState>> attributes(Supplier<CompletableFuture<String>> queue) {
        return fact(
                "its attributes",
                () -> queue.get()
                        .thenCompose(found -> client.getQueueAttributes(request -> request.queueUrl(found)
                                .attributeNames(QueueAttributeName.ALL)
                                .overrideConfiguration(measuredLimits())))
                        .thenApply(response -> Fact.known(new QueueState(response.attributesAsStrings()))));
    }

    /** Asked until it is allowed: what is denied may be granted, and what is granted is seldom taken away. */
    private CompletableFuture<Fact<Boolean>> mayRenew() {
        if (mayRenew) {
            return CompletableFuture.completedFuture(Fact.known(true));
        }
        return fact(
                "whether sqs:ChangeMessageVisibility is allowed",
                () -> client.changeMessageVisibility(request -> request.queueUrl(url)
                                .receiptHandle(NO_HANDLE)
                                .visibilityTimeout(0)
                                .overrideConfiguration(limits()))
                        .handle((changed, failure) -> allowed(failure)));
    }

    /** An answer that is about neither the right nor the handle, such as to an expired token, leaves it unknown. */
    private Fact<Boolean> allowed(@Nullable Throwable failure) {
        Throwable cause = failure == null ? null : cause(failure);
        if (cause != null && isDenied(cause)) {
            return Fact.known(false);
        }
        if (cause != null && !HANDLE_REFUSED.contains(code(cause))) {
            throw new CompletionException(cause);
        }
        mayRenew = true;
        return Fact.known(true);
    }

    private static <T> CompletableFuture<Fact<T>> fact(String what, Supplier<CompletableFuture<Fact<T>>> asked) {
        try {
            return asked.get().exceptionally(failure -> unknown(what, failure));
        } catch (RuntimeException failure) {
            return CompletableFuture.completedFuture(unknown(what, failure));
        }
    }

    private static <T> Fact<T> unknown(String what, Throwable failure) {
        Throwable cause = cause(failure);
        return Fact.unknown("%s could not be read: %s".formatted(what, isDenied(cause) ? "access denied" : cause));
    }

    private static boolean isDenied(Throwable cause) {
        return code(cause).contains("AccessDenied");
    }

    private static String code(Throwable cause) {
        return cause instanceof SqsException answer && answer.awsErrorDetails() != null
                ? String.valueOf(answer.awsErrorDetails().errorCode())
                : "";
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException wrapped && wrapped.getCause() != null
                ? wrapped.getCause()
                : failure;
    }

    /** Measured once: a client's own publishers see nothing of such a request. */
    private AwsRequestOverrideConfiguration measuredLimits() {
        return connections.most != null
                ? limits()
                : limits().toBuilder().addMetricPublisher(connections).build();
    }

    private static AwsRequestOverrideConfiguration limits() {
        return AwsRequestOverrideConfiguration.builder()
                .apiCallTimeout(LONGEST_REQUEST)
                .build();
    }
}
