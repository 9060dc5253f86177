package io.exactlyonce.testing.wire;

import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The receipt handles of each message that passed by, the end of its invisibility, and whether the message was deleted.
 */
final class Receipts {

    /**
     * The state of a receipt.
     *
     * @param newest the handle of the message's latest receive
     * @param isNewest whether this receipt is the newest
     * @param isDeleted whether the message was deleted
     * @param isHidden whether the message is invisible, whichever receipt hid it
     * @param age time since the latest receive
     */
    record Receipt(String newest, boolean isNewest, boolean isDeleted, boolean isHidden, Duration age) {}

    private static final class Message {
        private String newest = "";
        private boolean deleted;
        private long receivedAt;
        private long hiddenUntil;
    }

    private final Map<String, Message> byId = new HashMap<>();
    private final Map<String, Message> byHandle = new HashMap<>();
    private final NanoClock clock;

    Receipts(NanoClock clock) {
        this.clock = clock;
    }

    /** Records that a message was delivered. The message then exists, even after an earlier delete. */
    synchronized void received(String queueUrl, String messageId, String handle, Duration hidden) {
        Message message = byId.computeIfAbsent(queueUrl + " " + messageId, unknown -> new Message());
        byHandle.put(handle, message);
        message.newest = handle;
        message.deleted = false;
        message.receivedAt = clock.nanoTime();
        message.hiddenUntil = message.receivedAt + hidden.toNanos();
    }

    synchronized Optional<Receipt> find(String handle) {
        long now = clock.nanoTime();
        return Optional.ofNullable(byHandle.get(handle))
                .map(message -> new Receipt(
                        message.newest,
                        message.newest.equals(handle),
                        message.deleted,
                        message.hiddenUntil - now > 0,
                        Duration.ofNanos(now - message.receivedAt)));
    }

    synchronized void deleted(String handle) {
        Message message = byHandle.get(handle);
        if (message != null) {
            message.deleted = true;
        }
    }

    /**
     * Records a change that the server has accepted. Does nothing if the message has another handle by now: the change
     * made the message visible, and it was received again before the answer to the change arrived here.
     */
    synchronized void hidden(String handle, Duration hidden) {
        Message message = byHandle.get(handle);
        if (message != null && message.newest.equals(handle)) {
            message.hiddenUntil = clock.nanoTime() + hidden.toNanos();
        }
    }
}
