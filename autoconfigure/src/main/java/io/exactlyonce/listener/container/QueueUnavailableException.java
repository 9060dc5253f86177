package io.exactlyonce.listener.container;

import io.exactlyonce.ExactlyOnceSetupException;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import software.amazon.awssdk.awscore.AwsServiceClientConfiguration;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * A listener's queue cannot be read at start-up: it is missing, unreachable or forbidden. Its remedy depends on whether
 * credentials, region, endpoint, rights or the queue itself are the problem.
 */
public final class QueueUnavailableException extends ExactlyOnceSetupException {

    /**
     * Makes a failure.
     *
     * @param queue its name, URL or ARN as it was configured
     * @param region the region that the client asks, for people
     * @param endpoint the address that was configured; {@code null} for AWS's for the region
     */
    QueueUnavailableException(String queue, String listener, String region, @Nullable URI endpoint, Throwable cause) {
        super(
                "Queue '%s' of listener '%s' is not available: %s (region %s, endpoint %s). The look-up ended with: %s"
                        .formatted(
                                queue,
                                listener,
                                QueueProblem.of(cause).description(),
                                region,
                                endpoint == null ? "of AWS for that region, as none is set" : endpoint,
                                NestedExceptionUtils.getMostSpecificCause(cause).getMessage()),
                QueueProblem.of(cause).remedy(queue, listener, region, endpoint),
                cause);
    }

    /** Clients that are no client of the SDK's, such as an application's own decorators, need not tell what they ask. */
    static QueueUnavailableException by(SqsAsyncClient client, String queue, String listener, Throwable cause) {
        Optional<AwsServiceClientConfiguration> asked;
        try {
            asked = Optional.of(client.serviceClientConfiguration());
        } catch (UnsupportedOperationException decorator) {
            asked = Optional.empty();
        }
        return new QueueUnavailableException(
                queue,
                listener,
                asked.map(AwsServiceClientConfiguration::region).map(Region::id).orElse("unknown"),
                asked.flatMap(AwsServiceClientConfiguration::endpointOverride).orElse(null),
                cause);
    }
}
