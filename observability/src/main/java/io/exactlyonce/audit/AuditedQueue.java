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
 * Reads the queue of one listener with the listener's own client, one request after another. The listener itself also
 * reads the queue's attributes. If the listener has read the attributes since the last audit, the audit uses this
 * result. If not, the audit reads the attributes.
 */
final class AuditedQueue implements MetricPublisher {

    private static final Logger log = LoggerFactory.getLogger(AuditedQueue.class);

    private static final Duration LONGEST_REQUEST = Duration.ofSeconds(2);

    /**
     * A receipt handle that SQS never issues, which tests the permission to change the visibility of messages. SQS
     * reports the handle as invalid if the listener has the permission, and denies access if not.
     */
    private static final String NO_HANDLE = "exactly-once-audit";

    /** The error codes for an invalid handle. {@code InvalidParameterValue} is the code of ElasticMQ. */
    private static final Set<String> HANDLE_REFUSED =
            Set.of("ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight");

    /**
     * The beginnings of the names of attributes whose changes the audit does not log. The listener logs changes of the
     * first two attributes. The others are counts, and the time of the last change.
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

    /** Returns how many polls of the queue may wait for messages at the same time. */
    int mostPolls() {
        return queue.polling().most();
    }

    /**
     * Reads the rules' input.
     *
     * @param polls how many polls, of all queues together, may wait for messages with this client at the same time
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
        // Each audit tests the permission until SQS has allowed a renewal once. A missing permission may be granted
        // later, but a granted permission is rarely revoked.
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
     * Returns why SQS refuses renewals, or why the permission is unknown. Returns {@code null} if SQS allows renewals.
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
            // An error that is not about the handle, such as an expired token, proves nothing about the permission.
            // The error is then returned as the reason why the permission is unknown.
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
     * Sets the timeout of a request. Also makes this object the request's metrics publisher, if the limit of the
     * client's connections is still unknown, because a client reports this limit only in the metrics of a request. For
     * that request, the SDK does not call the client's own publishers.
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
