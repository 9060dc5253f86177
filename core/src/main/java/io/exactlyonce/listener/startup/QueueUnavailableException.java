package io.exactlyonce.listener.startup;

import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.boundary.AwsText;
import io.exactlyonce.boundary.Causes;
import io.exactlyonce.boundary.OneLine;
import io.exactlyonce.queue.ClientAbilities;
import java.io.IOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsServiceClientConfiguration;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Thrown if a listener's queue cannot be read at startup, because the queue is missing, unreachable or forbidden. The
 * message names a remedy, for example to correct the region or the credentials.
 */
public final class QueueUnavailableException extends ExactlyOnceSetupException {

    private static final int LONGEST_TEXT = 2_000;

    private static final String ENDPOINTS = "spring.cloud.aws.sqs.endpoint (or spring.cloud.aws.endpoint)";

    private static final String CREATION =
            "Missing queues are created at startup, without a dead-letter queue, only if "
                    + "spring.cloud.aws.sqs.queue-not-found-strategy=create says so.";

    /**
     * The reason why a queue was not found. Each constant has a test for the SDK's exception and its causes. If several
     * tests succeed, the first constant is used.
     */
    private enum Problem {
        /** SQS answers that this region and account have no such queue. */
        MISSING(
                QueueDoesNotExistException.class::isInstance,
                "there is no such queue",
                "Create the queue '%queue%' with a dead-letter queue, or correct queueNames of the "
                        + "listener '%listener%'. If it exists, it is in another region than '%region%' or in "
                        + "another account: correct spring.cloud.aws.region.static or the credentials. " + CREATION),
        /** The request was signed for another region than the server's. */
        WRONG_REGION(
                cause -> isRefusal(cause) && mentions(cause, "scoped to a valid region"),
                "the server belongs to another region",
                "Set spring.cloud.aws.region.static (or AWS_REGION) to the queue's region, instead of '%region%', or remove "
                        + ENDPOINTS + "."),
        /** SQS does not know the caller, or denies access. */
        FORBIDDEN(
                Problem::isRefusal,
                "SQS rejects the credentials, or they may not read the queue",
                "Check that the credentials are of the queue's account, and not expired, and allow sqs:GetQueueUrl and"
                        + " sqs:GetQueueAttributes on the queue '%queue%'."),
        /**
         * No credentials were found, so no request was sent. The SDK has no exception class for this case, so the
         * exception's message is checked.
         */
        NO_CREDENTIALS(
                cause -> cause instanceof SdkClientException && mentions(cause, "Unable to load credentials"),
                "no AWS credentials were found",
                "Give the application credentials: a role of its instance, task or pod, the "
                        + "environment's AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or "
                        + "spring.cloud.aws.credentials.access-key and .secret-key (an emulator takes any). On "
                        + "EKS with IAM roles for service accounts, also add software.amazon.awssdk:sts."),
        /** DNS does not find the host, because the region is unknown or the endpoint is misspelt. */
        UNKNOWN_HOST(
                UnknownHostException.class::isInstance,
                "its server's host name is unknown",
                "Correct the region '%region%' in spring.cloud.aws.region.static (or AWS_REGION), such as eu-central-1; if AWS has"
                        + " it, check this machine's DNS.",
                "Correct the host of %endpoint% in " + ENDPOINTS + ", or this machine's DNS."),
        /**
         * No server listens at the address, or it does not answer in time. The SDK may also report this as a lack of
         * connections in its pool.
         */
        UNREACHABLE(
                cause -> cause instanceof IOException
                        || cause instanceof TimeoutException
                        || cause instanceof ApiCallTimeoutException
                        || cause instanceof ApiCallAttemptTimeoutException,
                "no SQS server answers",
                "Let this machine reach SQS in region '%region%' (NAT, proxy, or a VPC endpoint); for an emulator set "
                        + ENDPOINTS + ".",
                "Start the SQS server at %endpoint%, or correct " + ENDPOINTS
                        + " to an address that this machine reaches."),
        OTHER(
                any -> true,
                "the lookup failed",
                "Check region, endpoint and credentials under spring.cloud.aws, and that the queue '%queue%' of the listener"
                        + " '%listener%' exists. " + CREATION);

        private static final int UNAUTHORIZED = 401;
        private static final int NOT_ALLOWED = 403;

        @SuppressWarnings("ImmutableEnumChecker") // None of them has state.
        private final Predicate<Throwable> isShownBy;

        private final String description;
        private final String remedy;
        private final String remedyWithEndpoint;

        Problem(Predicate<Throwable> isShownBy, String description, String remedy) {
            this(isShownBy, description, remedy, remedy);
        }

        Problem(Predicate<Throwable> isShownBy, String description, String remedy, String remedyWithEndpoint) {
            this.isShownBy = isShownBy;
            this.description = description;
            this.remedy = remedy;
            this.remedyWithEndpoint = remedyWithEndpoint;
        }

        static Problem of(Throwable failure) {
            return Arrays.stream(values())
                    .filter(problem -> Causes.of(failure).anyMatch(problem.isShownBy))
                    .findFirst()
                    .orElse(OTHER);
        }

        private static boolean isRefusal(Throwable cause) {
            return cause instanceof SqsException answer
                    && (answer.statusCode() == UNAUTHORIZED || answer.statusCode() == NOT_ALLOWED);
        }

        private static boolean mentions(Throwable cause, String words) {
            return String.valueOf(cause.getMessage()).contains(words);
        }
    }

    /**
     * @param queue the queue's name, URL or ARN as configured
     * @param region the region that the client calls, or "unknown"
     * @param endpoint the configured endpoint; {@code null} if the client uses AWS's own endpoint of the region
     */
    QueueUnavailableException(String queue, String listener, String region, @Nullable URI endpoint, Throwable cause) {
        this(Problem.of(cause), queue, listener, region, withoutSecrets(endpoint), cause);
    }

    /** Returns only protocol, host and port of an endpoint, because the other parts may contain secrets. */
    private static @Nullable String withoutSecrets(@Nullable URI endpoint) {
        if (endpoint == null) {
            return null;
        }
        String port = endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort();
        return "%s://%s%s".formatted(endpoint.getScheme(), endpoint.getHost(), port);
    }

    private QueueUnavailableException(
            Problem problem, String queue, String listener, String region, @Nullable String endpoint, Throwable cause) {
        super(
                ("Queue '%s' of listener '%s' is not available: %s (region %s, endpoint %s). The "
                                + "lookup failed with: %s")
                        .formatted(
                                queue,
                                listener,
                                problem.description,
                                region,
                                endpoint == null ? "of AWS for that region, as none is set" : endpoint,
                                text(Causes.root(cause))),
                (endpoint == null ? problem.remedy : problem.remedyWithEndpoint)
                        .replace("%endpoint%", String.valueOf(endpoint))
                        .replace("%region%", region)
                        .replace("%listener%", listener)
                        .replace("%queue%", queue),
                cause);
    }

    private static String text(Throwable cause) {
        return OneLine.of(Objects.requireNonNullElse(AwsText.messageOf(cause), cause.toString()), LONGEST_TEXT);
    }

    private QueueUnavailableException(
            SqsAsyncClient client, String queue, String listener, List<String> missing, @Nullable Throwable cause) {
        super(
                "Queue '%s' of listener '%s' is not available: its SqsAsyncClient, of class %s, does not implement %s"
                        .formatted(queue, listener, client.getClass().getName(), String.join(", ", missing)),
                ("Give the listener's container factory a client that implements all of SqsAsyncClient, such as the one"
                                + " that %s wraps, or mark that one as @Primary. A client for sending can stay with SqsTemplate.")
                        .formatted(client.getClass().getSimpleName()),
                cause);
    }

    /**
     * Checks that a client implements all operations that a listener needs, because an application's wrapper may lack
     * some.
     *
     * @throws QueueUnavailableException if an operation is missing
     */
    public static void requireComplete(SqsAsyncClient client, String queue, String listener) {
        List<String> missing = ClientAbilities.missing(client);
        if (!missing.isEmpty()) {
            throw new QueueUnavailableException(client, queue, listener, missing, null);
        }
    }

    /**
     * Returns the exception for a failed lookup of a queue. The message names the client's region and endpoint, unless
     * the client is an application's wrapper that does not return them.
     */
    public static QueueUnavailableException by(SqsAsyncClient client, String queue, String listener, Throwable cause) {
        Optional<StackTraceElement> unsupported = Causes.of(cause)
                .filter(UnsupportedOperationException.class::isInstance)
                .flatMap(failure -> Arrays.stream(failure.getStackTrace()).limit(1))
                .filter(thrower -> Stream.of(SqsAsyncClient.class, client.getClass())
                        .anyMatch(type -> type.getName().equals(thrower.getClassName())))
                .findFirst();
        if (unsupported.isPresent()) {
            List<String> missing = List.of(unsupported.get().getMethodName());
            return new QueueUnavailableException(client, queue, listener, missing, cause);
        }
        var asked = ClientAbilities.configuration(client);
        return new QueueUnavailableException(
                queue,
                listener,
                asked.map(AwsServiceClientConfiguration::region).map(Region::id).orElse("unknown"),
                asked.flatMap(AwsServiceClientConfiguration::endpointOverride).orElse(null),
                cause);
    }
}
