package io.exactlyonce.listener.startup;

import io.exactlyonce.listener.method.InvalidListenerException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** Failures that only containers throw, for tests in other packages. */
public final class ListenerFailures {

    private ListenerFailures() {}

    /** Returns the failure of a queue lookup in region eu-central-1, at a custom endpoint or at AWS's endpoint. */
    public static QueueUnavailableException queueUnavailable(
            String queue, String listener, @Nullable String endpoint, Throwable cause) {
        return new QueueUnavailableException(
                queue, listener, "eu-central-1", endpoint == null ? null : URI.create(endpoint), cause);
    }

    public static InvalidListenerException invalidListener(String problem, String remedy) {
        return new InvalidListenerException(problem, remedy);
    }
}
