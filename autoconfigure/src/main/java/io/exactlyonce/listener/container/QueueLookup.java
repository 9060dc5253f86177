package io.exactlyonce.listener.container;

import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsServiceClientConfiguration;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Where a listener's queue was looked for.
 *
 * @param queue its name, URL or ARN as it was configured
 * @param listener the listener's id
 * @param region the region that the client asks, if it has one
 * @param endpoint the address that was configured; AWS's for the region, if there is none
 */
record QueueLookup(String queue, String listener, Optional<String> region, Optional<URI> endpoint) {

    static QueueLookup by(@Nullable SqsAsyncClient client, String queue, String listener) {
        Optional<AwsServiceClientConfiguration> configuration =
                Optional.ofNullable(client).flatMap(QueueLookup::configuration);
        return new QueueLookup(
                queue,
                listener,
                configuration.map(AwsServiceClientConfiguration::region).map(Region::id),
                configuration.flatMap(AwsServiceClientConfiguration::endpointOverride));
    }

    /** Clients that are no client of the SDK's, such as an application's own decorators, need not have one. */
    private static Optional<AwsServiceClientConfiguration> configuration(SqsAsyncClient client) {
        try {
            return Optional.of(client.serviceClientConfiguration());
        } catch (UnsupportedOperationException decorator) {
            return Optional.empty();
        }
    }

    /** Returns region and endpoint, for messages. */
    String place() {
        return "region %s, endpoint %s"
                .formatted(
                        region.orElse("unknown"),
                        endpoint.map(URI::toString).orElse("of AWS for that region, as none is set"));
    }

    /** Returns the region for the remedy, which must make sense without one, too. */
    String regionOrUnknown() {
        return region.orElse("unknown");
    }
}
