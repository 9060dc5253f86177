package io.exactlyonce.audit;

import io.exactlyonce.audit.QueueFacts.Attributes;
import io.exactlyonce.audit.QueueFacts.Redrive;
import io.exactlyonce.visibility.SqsQueueVisibility;
import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.http.HttpMetric;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricPublisher;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Reads what the rules judge, with the listener's own client, and waits for each answer. What cannot be read is unknown, and
 * says why.
 */
final class QueueReader {

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(2);

    /** A handle that SQS never gives out: who may change visibility is told that it is invalid, who may not is refused. */
    private static final String NO_HANDLE = "exactly-once-audit";

    /** What SQS says of it then; ElasticMQ calls it a parameter. */
    private static final Set<String> HANDLE_REFUSED =
            Set.of("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight");

    private static final int PARTS_OF_ARN = 6;
    private static final int ACCOUNT = 4;

    private final SqsAsyncClient client;
    private final String url;
    private final Connections connections = new Connections();
    private boolean mayRenew;

    QueueReader(SqsQueueVisibility queue) {
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
    QueueFacts read(Subscription subscription, QueueAudit.Terms terms, int polls, @Nullable Duration p99) {
        Attributes queue = attributes(() -> url);
        Redrive redrive = queue.redrive();
        Attributes deadLetters = redrive == null
                ? Attributes.unknown("there is no dead-letter queue")
                : attributes(() -> urlOf(redrive.target()));
        // Asked until it is allowed: what is denied may be granted, and what is granted is seldom taken away.
        RuntimeException refusal = mayRenew ? null : renewalRefusal();
        mayRenew = refusal == null;
        boolean isDenied = refusal != null && isDenied(refusal);
        String unknown =
                refusal == null || isDenied ? null : why("whether sqs:ChangeMessageVisibility is allowed", refusal);
        return new QueueFacts(subscription, terms, queue, deadLetters, isDenied, unknown, polls, connections.most, p99);
    }

    private Attributes attributes(Supplier<String> queue) {
        try {
            String found = queue.get();
            return new Attributes(
                    client.getQueueAttributes(request -> request.queueUrl(found)
                                    .attributeNames(QueueAttributeName.ALL)
                                    .overrideConfiguration(this::measure))
                            .join()
                            .attributesAsStrings(),
                    null);
        } catch (RuntimeException failure) {
            return Attributes.unknown(why("its attributes", failure));
        }
    }

    private String urlOf(String arn) {
        String[] parts = arn.split(":", -1);
        boolean namesAccount = parts.length == PARTS_OF_ARN && !parts[ACCOUNT].isEmpty();
        return client.getQueueUrl(request -> request.queueName(parts[parts.length - 1])
                        .queueOwnerAWSAccountId(namesAccount ? parts[ACCOUNT] : null)
                        .overrideConfiguration(QueueReader::limit))
                .join()
                .queueUrl();
    }

    /** Returns what SQS says against renewals, or why that is not known; {@code null} if it allows them. */
    private @Nullable RuntimeException renewalRefusal() {
        try {
            client.changeMessageVisibility(request -> request.queueUrl(url)
                            .receiptHandle(NO_HANDLE)
                            .visibilityTimeout(0)
                            .overrideConfiguration(QueueReader::limit))
                    .join();
            return null;
        } catch (RuntimeException failure) {
            // An answer that is about neither the right nor the handle, such as to an expired token, leaves it unknown.
            return HANDLE_REFUSED.contains(code(failure)) ? null : failure;
        }
    }

    private static String why(String what, RuntimeException failure) {
        return what + " could not be read: " + (isDenied(failure) ? "access denied" : cause(failure));
    }

    private static boolean isDenied(RuntimeException failure) {
        return code(failure).contains("AccessDenied");
    }

    private static String code(RuntimeException failure) {
        return cause(failure) instanceof SqsException answer && answer.awsErrorDetails() != null
                ? String.valueOf(answer.awsErrorDetails().errorCode())
                : "";
    }

    private static Throwable cause(RuntimeException failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** Measured once: a client's own publishers see nothing of such a request. */
    private void measure(AwsRequestOverrideConfiguration.Builder request) {
        limit(request);
        if (connections.most == null) {
            request.addMetricPublisher(connections);
        }
    }

    private static void limit(AwsRequestOverrideConfiguration.Builder request) {
        request.apiCallTimeout(LONGEST_REQUEST);
    }
}
