package io.exactlyonce.chaos.cluster;

/** Observes what goes to the SQS server and what comes back. */
public interface SqsTraffic {

    /**
     * A worker's request.
     *
     * @param worker its name, or its access key if it is none
     * @param action what it asks for, such as {@code ReceiveMessage}
     * @param body JSON
     */
    record Request(String worker, String action, String body) {}

    /** A request has arrived; it goes on to the server when this returns. */
    void requested(Request request);

    /**
     * The server has answered.
     *
     * @return what is given to the worker
     */
    String replied(Request request, int status, String body);
}
