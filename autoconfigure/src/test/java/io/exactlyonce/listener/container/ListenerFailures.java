package io.exactlyonce.listener.container;

import io.exactlyonce.listener.method.InvalidListenerException;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Failures that only containers make, for tests in other packages. */
public final class ListenerFailures {

    private ListenerFailures() {}

    /** Returns the failure to look a queue up in region eu-central-1, at an endpoint or at AWS's. */
    public static QueueUnavailableException queueUnavailable(
            String queue, String listener, @Nullable String endpoint, Throwable cause) {
        QueueLookup lookup = new QueueLookup(
                queue,
                listener,
                Optional.of("eu-central-1"),
                Optional.ofNullable(endpoint).map(URI::create));
        return new QueueUnavailableException(lookup, cause);
    }

    public static InvalidListenerException invalidListener(String problem, String remedy) {
        return new InvalidListenerException(problem, remedy);
    }
}
