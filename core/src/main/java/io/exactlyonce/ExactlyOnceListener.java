package io.exactlyonce;

import io.awspring.cloud.sqs.annotation.SqsListener;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Marks a method as an SQS listener whose effect happens once per idempotency key.
 *
 * <p>The key is claimed before the method is called. While the method runs, the message's visibility timeout and the
 * claim's lease are renewed. After it returns, the claim is completed, and only then is the message deleted. A method
 * whose claim is lost is interrupted, and its result discarded.
 *
 * <p>If the key is already completed, the message is deleted without calling the method. If another delivery owns the
 * key, this one waits, invisible and without a thread.
 *
 * <p>A crash between an effect in another system and its completion cannot be undone. The next attempt sees {@link
 * Claim#isInDoubt()}; pass {@link Claim#downstreamKey()} to every system you call.
 *
 * <p>The method takes one message: its payload, optionally headers, the {@code Message}, and a {@link Claim}. It may
 * return a value, which is stored with the claim, or a {@code CompletableFuture} of it. The claim is then held until
 * the future completes; the future is cancelled where a handler would be interrupted.
 *
 * <p>A method that takes a batch has a {@code List<T>} or {@code List<Message<T>>}, and optionally a {@code
 * List<Claim>}. It gets the messages whose keys were acquired, and may return a {@link BatchResult} that names the
 * failed ones; any other result is ignored.
 *
 * <p>All text attributes support <code>${...}</code> placeholders. The queue names and the numbers of the container also
 * support <code>#{...}</code> expressions.
 *
 * <p>On a class it applies to all {@link io.awspring.cloud.sqs.annotation.SqsHandler} methods, which form one listener:
 * a message goes to the method that takes its payload's type. It can also be a meta-annotation of your own annotation.
 *
 * <pre>{@code
 * @ExactlyOnceListener(queueNames = "orders", key = "#order.orderId")
 * void fulfil(Order order, Claim claim) {
 *     payments.charge(order, claim.downstreamKey());
 * }
 * }</pre>
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@SqsListener
public @interface ExactlyOnceListener {

    /** Bean name of the container factory that prepares listener containers for exactly-once handling. */
    String CONTAINER_FACTORY = "exactlyOnceListenerContainerFactory";

    /** Names, URLs or ARNs of the queues to listen to: all of them standard ones, or all of them FIFO ones. */
    @AliasFor(annotation = SqsListener.class, attribute = "value")
    String[] value() default {};

    /** Names, URLs or ARNs of the queues to listen to: all of them standard ones, or all of them FIFO ones. */
    @AliasFor(annotation = SqsListener.class, attribute = "queueNames")
    String[] queueNames() default {};

    /** Id of the listener: the value of the {@code listener} tag on every meter. Generated if empty. */
    @AliasFor(annotation = SqsListener.class, attribute = "id")
    String id() default "";

    /** Bean name of the container factory. It must be one that prepares containers for exactly-once handling. */
    @AliasFor(annotation = SqsListener.class, attribute = "factory")
    String factory() default CONTAINER_FACTORY;

    /** Maximum number of a queue's messages that are handled at once. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxConcurrentMessages")
    String maxConcurrentMessages() default "";

    /** Maximum number of messages per poll. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxMessagesPerPoll")
    String maxMessagesPerPoll() default "";

    /** Wait time of a poll, in whole seconds. */
    @AliasFor(annotation = SqsListener.class, attribute = "pollTimeoutSeconds")
    String pollTimeoutSeconds() default "";

    /** Visibility timeout of received messages, in whole seconds from 1 to 43,200. Default: the queue's own. */
    @AliasFor(annotation = SqsListener.class, attribute = "messageVisibilitySeconds")
    String messageVisibilitySeconds() default "";

    /**
     * SpEL expression for the idempotency key. It may use the method's parameters by name, {@code #payload}, {@code
     * #message} and {@code #headers}; batch listeners have only the last three, evaluated per message. The result must
     * be text, a number, a UUID or an enum constant. {@link #whenKeyMissing()} decides on a {@code null} or blank key.
     *
     * <p>Default: the message attribute {@code ExactlyOnce-Key}, or else the SQS message ID. The message ID detects
     * redeliveries only: a message that is sent again or redriven gets a new one.
     */
    String key() default "";

    /**
     * SpEL expression, like {@link #key()}, for the content that must be equal in all messages of a key: a field, or a
     * list such as <code>"{#order.orderId, #order.amount}"</code>. The claim stores its SHA-256. If a key is completed
     * for other content, {@link #onMismatch()} decides; by default the message is rejected. The result must be text, a
     * number, a UUID, an enum constant or a list of these; anything else fails the delivery. Default: the body's
     * content, of JSON without its layout, and of an SNS notification the published message. A sender that repeats an
     * order with another timestamp is then rejected.
     */
    String fingerprint() default "";

    /** Namespace of the key: the same key in two scopes is two claims. Default: the queue's name. */
    String scope() default "";

    /**
     * Maximum run time of the handler: {@code 5m}, {@code 90s} or ISO ({@code PT5M}), from 1 s to 12 h. At the timeout
     * the handler is interrupted once, and message and claim are no longer renewed. A handler can ignore the interrupt:
     * it then keeps its key until the lease ends, and may still complete unless another worker has taken the key over.
     * {@code exactly-once.listeners.<id>.timeout} overrides it. Default: no timeout, but renewal ends at SQS's limit of
     * 12 h after the receive.
     */
    String timeout() default "";

    /** Policy for a key whose earlier attempt died or was stopped without reporting an outcome. */
    InDoubtPolicy whenInDoubt() default InDoubtPolicy.RERUN;

    /**
     * Bean name of the {@link Reconciler} that {@link InDoubtPolicy#RECONCILE} calls. Default: the only or primary one.
     */
    String reconciler() default "";

    /**
     * Exception types for which a retry is useless. If the handler throws one of them, its key is parked, and the
     * handler is not called for it again. The message is not deleted, so it ends in the dead-letter queue. The thrown
     * exception is matched without a proxy's wrapper; its causes are not.
     */
    Class<? extends Throwable>[] parkFor() default {};

    /**
     * The place of the handler's effects. {@link Effects#DATABASE} runs handler, claim and completion in one
     * application transaction, which must use the database that stores the claims. Checked at startup.
     */
    Effects effects() default Effects.EXTERNAL;

    /**
     * The way in which the listener uses claims. With {@link ClaimMode#OBSERVE} the handler runs as under {@code
     * @SqsListener}; the library records claims in the background and counts the duplicates it would have prevented.
     * {@code exactly-once.listeners.<id>.mode} overrides it.
     */
    ClaimMode mode() default ClaimMode.AS_CONFIGURED;

    /**
     * Bean name of the transaction manager for {@link Effects#DATABASE}. Default: the only one, or the primary one.
     * Rejected with {@link Effects#EXTERNAL}, which uses none.
     */
    String transactionManager() default "";

    /**
     * Policy for a message whose key is completed for other content than {@link #fingerprint()} finds in it. {@code
     * exactly-once.listeners.<id>.on-mismatch} overrides it.
     */
    MismatchPolicy onMismatch() default MismatchPolicy.AS_CONFIGURED;

    /**
     * Policy for a message for which {@link #key()} finds no key. {@code exactly-once.listeners.<id>.when-key-missing}
     * overrides it. Startup fails for another policy than {@link MissingKeyPolicy#REFUSE} without a {@code key}, whose
     * default is never missing, and for {@link MissingKeyPolicy#RUN_UNPROTECTED} with {@link Effects#DATABASE}.
     */
    MissingKeyPolicy whenKeyMissing() default MissingKeyPolicy.REFUSE;

    /**
     * Number of attempts that may throw before the key is parked, with the last exception as its reason. An attempt
     * that was stopped does not count, nor does a crash or a claim that was lost. With {@link Effects#DATABASE} the
     * receives of the message count, because an attempt that was rolled back leaves no trace. An operator's release
     * sets the count to 0. {@code exactly-once.listeners.<id>.max-attempts} overrides it. Default: 0, any number.
     */
    int maxAttempts() default 0;
}
