package io.exactlyonce.listener.container;

import io.exactlyonce.listener.message.FailureOutline;
import java.io.IOException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Why a queue cannot be looked up, as far as the SDK's failure tells it; each has a remedy of its own. */
enum QueueProblem {
    /** No provider of credentials had any: nothing was sent. */
    NO_CREDENTIALS(
            "no AWS credentials were found",
            "Give the application credentials: a role of its instance, task or pod, the environment's AWS_ACCESS_KEY_ID"
                    + " and AWS_SECRET_ACCESS_KEY, a profile, or spring.cloud.aws.credentials.access-key and .secret-key (an"
                    + " emulator takes any). A pod's role by web identity needs software.amazon.awssdk:sts on the class path."),
    /** DNS does not know the host: a region that AWS has not, or a misspelt endpoint. */
    UNKNOWN_HOST(
            "its server's host name is unknown",
            "Correct the region '%region%' in spring.cloud.aws.region.static (or AWS_REGION), such as eu-central-1; if AWS has"
                    + " it, check this machine's DNS.",
            "Correct the host of %endpoint% in %property%, or this machine's DNS."),
    /** The credentials' signature names another region than the server that was asked. */
    WRONG_REGION(
            "the server that was asked belongs to another region",
            "Set spring.cloud.aws.region.static (or AWS_REGION) to the queue's region, instead of '%region%', or remove"
                    + " %property%."),
    /** Nothing listens there, or no answer came. */
    UNREACHABLE(
            "no SQS server answers",
            "Let this machine reach SQS in region '%region%' (NAT, proxy, or a VPC endpoint); for an emulator set %property%.",
            "Start the SQS server at %endpoint%, or correct %property% to an address that this machine reaches."),
    /** SQS knows the caller not, or does not let it. */
    FORBIDDEN(
            "SQS refuses the credentials, or does not let them read the queue",
            "Check that the credentials are of the queue's account, and not expired, and allow sqs:GetQueueUrl and"
                    + " sqs:GetQueueAttributes on the queue '%queue%'."),
    /** SQS answers that it has no such queue, in this region and account. */
    MISSING(
            "there is no such queue",
            "Create the queue '%queue%' with a dead-letter queue, or correct queueNames of the listener '%listener%'. If it"
                    + " exists, it does so in another region than '%region%' or in another account: correct"
                    + " spring.cloud.aws.region.static or the credentials. %creation%"),
    /** Anything else. */
    OTHER(
            "the look-up failed",
            "Check region, endpoint and credentials under spring.cloud.aws, and that the queue '%queue%' of the listener"
                    + " '%listener%' exists. %creation%");

    private static final String ENDPOINTS = "spring.cloud.aws.sqs.endpoint (or spring.cloud.aws.endpoint)";
    private static final String CREATION =
            "Missing queues are created at start-up, without a dead-letter queue, only if "
                    + "spring.cloud.aws.sqs.queue-not-found-strategy=create says so.";

    private static final int UNAUTHORIZED = 401;
    private static final int NOT_ALLOWED = 403;

    private final String description;
    private final String remedy;
    private final String remedyWithEndpoint;

    QueueProblem(String description, String remedy) {
        this(description, remedy, remedy);
    }

    QueueProblem(String description, String remedy, String remedyWithEndpoint) {
        this.description = description;
        this.remedy = remedy;
        this.remedyWithEndpoint = remedyWithEndpoint;
    }

    String description() {
        return description;
    }

    /**
     * Returns what mends it.
     *
     * @param endpoint the address that was configured, if there is one
     */
    String remedy(String queue, String listener, String region, @Nullable URI endpoint) {
        return (endpoint == null ? remedy : remedyWithEndpoint)
                .replace("%property%", ENDPOINTS)
                .replace("%creation%", CREATION)
                .replace("%endpoint%", String.valueOf(endpoint))
                .replace("%region%", region)
                .replace("%listener%", listener)
                .replace("%queue%", queue);
    }

    static QueueProblem of(Throwable failure) {
        if (any(failure, QueueDoesNotExistException.class::isInstance)) {
            return MISSING;
        }
        if (any(failure, QueueProblem::isOfAnotherRegion)) {
            return WRONG_REGION;
        }
        if (any(failure, QueueProblem::isRefusal)) {
            return FORBIDDEN;
        }
        if (any(failure, QueueProblem::isWithoutCredentials)) {
            return NO_CREDENTIALS;
        }
        if (any(failure, UnknownHostException.class::isInstance)) {
            return UNKNOWN_HOST;
        }
        return any(failure, QueueProblem::isSilence) ? UNREACHABLE : OTHER;
    }

    private static boolean isOfAnotherRegion(Throwable cause) {
        return isRefusal(cause) && String.valueOf(cause.getMessage()).contains("scoped to a valid region");
    }

    private static boolean isRefusal(Throwable cause) {
        return cause instanceof SqsException answer
                && (answer.statusCode() == UNAUTHORIZED || answer.statusCode() == NOT_ALLOWED);
    }

    /** The SDK has no type for it; it is nothing but a client's exception that sent no request. */
    private static boolean isWithoutCredentials(Throwable cause) {
        return cause instanceof SdkClientException
                && String.valueOf(cause.getMessage()).startsWith("Unable to load credentials");
    }

    /** The SDK's own limits, and its pool's: a connection that cannot be made may end as one that was not acquired. */
    private static boolean isSilence(Throwable cause) {
        return cause instanceof IOException
                || cause instanceof TimeoutException
                || cause instanceof ApiCallTimeoutException
                || cause instanceof ApiCallAttemptTimeoutException;
    }

    private static boolean any(Throwable failure, Predicate<Throwable> matches) {
        return FailureOutline.causes(failure).anyMatch(matches);
    }
}
