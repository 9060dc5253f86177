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
 * Reads the queue of one listener with the listener's own client, one request after another. The listener also reads
 * the queue's attributes. The audit reads them only if the listener has not read them since the last audit.
 */
final class AuditedQueue implements MetricPublisher {

    private static final Logger log = LoggerFactory.getLogger(AuditedQueue.class);

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(2);

    /**
     * A receipt handle that SQS never issues. If the listener may change the visibility, SQS reports the handle as
     * invalid; if not, SQS denies access.
     */
    private static final String NO_HANDLE = "exactly-once-audit";

    /** The error codes for an invalid handle. ElasticMQ calls the handle a parameter. */
    private static final Set<String> HANDLE_REFUSED =
            Set.of("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight");

    /** Attributes whose changes the audit does not log: counts, and attributes whose changes the listener logs. */
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

    /** Returns how many polls of the queue may wait for messages at the same time. */
    int mostPolls() {
        return queue.polling().most();
    }

    /**
     * Reads the rules' input.
     *
     * @param polls how many polls of all queues may wait at the client at the same time
     * @param p99 the 99th percentile of the listener's deliveries; {@code null} if too few were measured
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
        // The permission is tested until SQS allows renewals. A missing permission may be granted later, and a granted
        // permission is rarely revoked.
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

    /** Returns why SQS refuses renewals, or why the audit cannot find out; {@code null} if SQS allows renewals. */
    private @Nullable String renewalRefusal() {
        try {
            client().changeMessageVisibility(request -> request.queueUrl(queue.queueUrl())
                            .receiptHandle(NO_HANDLE)
                            .visibilityTimeout(0)
                            .overrideConfiguration(this::measure))
                    .join();
            return null;
        } catch (RuntimeException failure) {
            // Another error, such as an expired token, proves nothing about the permission.
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
     * Adds this object as a metrics publisher to a request. A client publishes the limit of its HTTP client only with
     * the metrics of a request. A publisher of a request replaces the client's own publishers.
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
