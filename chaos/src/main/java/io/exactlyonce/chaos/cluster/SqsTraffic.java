package io.exactlyonce.chaos.cluster;

/** Observes requests to the SQS server and its replies. */
public interface SqsTraffic {

    /**
     * A worker's request.
     *
     * @param worker the worker's name, or its access key if there is no worker of this name
     * @param action the requested action, such as {@code ReceiveMessage}
     * @param body the request's JSON
     */
    record Request(String worker, String action, String body) {}

    /** Called when a request arrived. The request goes on to the server when this method returns. */
    void requested(Request request);

    /**
     * Called when the server replied.
     *
     * @return the reply for the worker
     */
    String replied(Request request, int status, String body);
}
