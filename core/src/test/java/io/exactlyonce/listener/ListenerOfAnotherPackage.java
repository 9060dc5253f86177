package io.exactlyonce.listener;

import io.exactlyonce.ExactlyOnceListener;

/** A superclass of listeners in other packages. */
public abstract class ListenerOfAnotherPackage {

    @ExactlyOnceListener(queueNames = "orders")
    void hidden(String order) {}

    @ExactlyOnceListener(queueNames = "returns")
    protected void visible(String order) {}
}
