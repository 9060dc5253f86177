package io.exactlyonce.test.kit;

import io.exactlyonce.Claim;

/** Takes money, which shows: tests mock it. */
interface Till {

    record Order(String orderId, int cents) {}

    void charge(String orderId, Claim claim) throws InterruptedException;
}
