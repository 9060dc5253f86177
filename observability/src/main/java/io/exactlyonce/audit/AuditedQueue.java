package io.exactlyonce.audit;

import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.queue.ClientAbilities;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.QueueAttributes.Redrive;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.arns.Arn;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.HttpMetric;
import software.amazon.awssdk.metrics.MetricCollection;
import software.amazon.awssdk.metrics.MetricPublisher;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.SqsServiceClientConfiguration;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Reads from SQS what the audit needs to know about one listener's queue.
 *
 * <p>The listener also reads the queue's attributes from time to time. If the listener has read them since the last
 * audit, they are not read again.
 */
final class AuditedQueue implements MetricPublisher {

    private static final Logger log = LoggerFactory.getLogger(AuditedQueue.class);

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(2);

    /**
     * A receipt handle that does not exist. The audit asks SQS to change the visibility timeout of this handle, to find
     * out whether the listener may renew. If it may, SQS answers that the handle is invalid. If it may not, SQS denies
     * access.
     */
    private static final String NO_HANDLE = "exactly-once-audit";

    /** Error codes for an invalid receipt handle. {@code InvalidParameterValue} comes from ElasticMQ. */
    private static final Set<String> HANDLE_REFUSED =
            Set.of("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight");

    /**
     * The audit does not log changes of attributes whose names begin with one of these texts. The listener itself logs
     * changes of {@code VisibilityTimeout} and {@code RedrivePolicy}. The other attributes change all the time.
     */
    private static final List<String> NOT_TOLD =
            List.of("VisibilityTimeout", "RedrivePolicy", "ApproximateNumberOf", "LastModifiedTimestamp");

    private static final int LONGEST_TEXT = 2_000;

    private final Subscription subscription;
    private final SqsQueue queue;
    private QueueAttributes attributes = QueueAttributes.UNKNOWN;
    private QueueAttributes deadLetters = QueueAttributes.UNKNOWN;
    private boolean mayRenew;
    private volatile @Nullable Integer connections;

    AuditedQueue(Subscription subscription, SqsQueue queue) {
        this.subscription = subscription;
        this.queue = queue;
    }

    SqsAsyncClient client() {
        return queue.client();
    }

    /** Returns the largest number of polls that can run on this queue at the same time. */
    int mostPolls() {
        return queue.polling().most();
    }

    /**
     * Reads the values that the rules compare.
     *
     * @param polls how many polls can run at the same time with this SQS client, which may serve several queues
     * @param p99 the 99th percentile of the listener's latencies; {@code null} if too few deliveries were measured
     */
    QueueFacts read(QueueAudit.Settings terms, int polls, @Nullable Duration p99) {
        QueueAttributes read = QueueAttributes.UNKNOWN;
        QueueAttributes dead = QueueAttributes.UNKNOWN;
        String unknown = null;
        try {
            QueueAttributes latest = queue.attributes();
            read = latest == attributes ? queue.readAttributes(LONGEST_REQUEST).join() : latest;
            logChanges("queue", attributes, read);
            attributes = read;
            if (read.redrive() != null) {
                dead = QueueAttributes.read(client(), urlOf(read.redrive().target()), this::measure)
                        .join();
                logChanges("dead-letter queue", deadLetters, dead);
                deadLetters = dead;
            }
        } catch (RuntimeException failure) {
            unknown = "its attributes could not be read: " + reason(failure);
        }
        // Once SQS has allowed a renewal, the permission is not tested again, because it is rarely revoked. A missing
        // permission is tested in each audit, because an administrator may grant it.
        String refusal = mayRenew ? null : renewalRefusal();
        mayRenew = refusal == null;
        return new QueueFacts(subscription, terms, read, dead, unknown, refusal, client(polls), p99);
    }

    private QueueFacts.Client client(int polls) {
        Optional<ClientOverrideConfiguration> limits =
                ClientAbilities.configuration(client()).map(SqsServiceClientConfiguration::overrideConfiguration);
        return new QueueFacts.Client(
                polls,
                connections,
                queue.polling().timeout(),
                limits.flatMap(ClientOverrideConfiguration::apiCallTimeout).orElse(null),
                limits.flatMap(ClientOverrideConfiguration::apiCallAttemptTimeout)
                        .orElse(null),
                queue.clientPatience());
    }

    private String urlOf(String text) {
        Arn arn = Arn.fromString(text);
        return client().getQueueUrl(request -> request.queueName(arn.resourceAsString())
                        .queueOwnerAWSAccountId(arn.accountId().orElse(null))
                        .overrideConfiguration(this::measure))
                .join()
                .queueUrl();
    }

    /**
     * Finds out whether the listener may renew visibility timeouts.
     *
     * @return {@code null} if it may; {@link QueueFacts#DENIED} if it may not; the error if the test failed
     */
    private @Nullable String renewalRefusal() {
        try {
            client().changeMessageVisibility(request -> request.queueUrl(queue.queueUrl())
                            .receiptHandle(NO_HANDLE)
                            .visibilityTimeout(0)
                            .overrideConfiguration(this::measure))
                    .join();
            return null;
        } catch (RuntimeException failure) {
            // An error such as an expired token says nothing about the permission.
            return HANDLE_REFUSED.contains(code(failure)) ? null : reason(failure);
        }
    }

    private static String reason(RuntimeException failure) {
        return code(failure).contains("AccessDenied")
                ? QueueFacts.DENIED
                : OneLine.of(String.valueOf(Causes.unwrap(failure)), LONGEST_TEXT);
    }

    private static String code(RuntimeException failure) {
        return Causes.unwrap(failure) instanceof SqsException answer && answer.awsErrorDetails() != null
                ? String.valueOf(answer.awsErrorDetails().errorCode())
                : "";
    }

    /**
     * Sets the timeout of a request. Until the number of connections of the HTTP client is known, also adds this object
     * as a metric publisher of the request, because only the SDK's metrics contain that number.
     *
     * <p>A publisher of a request replaces the client's own publishers, so it is not added for longer than necessary.
     */
    private void measure(AwsRequestOverrideConfiguration.Builder request) {
        request.apiCallTimeout(LONGEST_REQUEST);
        if (connections == null) {
            request.addMetricPublisher(this);
        }
    }

    @Override
    public void publish(MetricCollection measured) {
        measured.metricValues(HttpMetric.MAX_CONCURRENCY).forEach(most -> connections = most);
        measured.children().forEach(this::publish);
    }

    @Override
    public void close() {}

    private void logChanges(String what, QueueAttributes before, QueueAttributes now) {
        Map<String, String> old = settings(before);
        Map<String, String> current = settings(now);
        old.keySet().forEach(name -> current.putIfAbsent(name, "unset"));
        String changes = current.entrySet().stream()
                .filter(setting -> !setting.getValue().equals(old.get(setting.getKey())))
                .map(setting -> "%s %s -> %s"
                        .formatted(setting.getKey(), old.getOrDefault(setting.getKey(), "unset"), setting.getValue()))
                .collect(Collectors.joining(", "));
        if (before != QueueAttributes.UNKNOWN && !changes.isEmpty()) {
            log.warn("The {} of {} was changed: {}", what, subscription, OneLine.of(changes, LONGEST_TEXT));
        }
    }

    private static Map<String, String> settings(QueueAttributes attributes) {
        Map<String, String> settings = attributes.values();
        settings.keySet().removeIf(name -> NOT_TOLD.stream().anyMatch(name::startsWith));
        Redrive redrive = attributes.redrive();
        settings.put("dead-letter queue", redrive == null ? "none" : redrive.target());
        return settings;
    }
}
