package io.exactlyonce.sample.provider;

/**
 * Learns of a handler in its middle: the order is charged, its confirmation was asked for and is not answered yet, so
 * the worker has neither recorded the order nor acknowledged its message.
 */
@FunctionalInterface
public interface MailObserver {

    /** Called on the request's thread, before the answer's delay begins. */
    void confirmationRequested(String orderId, String worker);
}
