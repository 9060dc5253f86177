package io.exactlyonce.listener;

/** Failures that only containers make, for tests in other packages. */
public final class ListenerFailures {

    private ListenerFailures() {}

    public static QueueUnavailableException queueUnavailable(String queue, String listener, Throwable cause) {
        return new QueueUnavailableException(queue, listener, cause);
    }

    public static InvalidListenerException invalidListener(String problem, String remedy) {
        return new InvalidListenerException(problem, remedy);
    }
}
