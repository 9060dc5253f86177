package io.exactlyonce;

import io.awspring.cloud.sqs.annotation.SqsListener;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Marks a method as a handler of SQS messages whose effect happens once per idempotency key, however often SQS delivers
 * a message and however long the handler runs.
 *
 * <p>Before the handler runs, its key is claimed in PostgreSQL; while it runs, the message's visibility window and the
 * claim's lease are renewed; after it returned, the claim is completed and only then the message is acknowledged. A
 * delivery whose key is completed is acknowledged without calling the handler; one whose key another delivery holds
 * waits, invisible and without a thread, until that key is completed or free. A handler whose claim is lost is
 * interrupted and its result discarded.
 *
 * <p>The guarantee holds for effects per key, not for deliveries. A handler that calls other systems can crash between
 * its effect and its completion: the next attempt then sees {@link Claim#isInDoubt()} and should pass {@link
 * Claim#downstreamKey()} to whatever it calls.
 *
 * <p>The method takes one message: its payload, optionally headers, the {@code Message}, and a {@link Claim}. It may
 * return a value, which is stored with the claim, or a {@code CompletableFuture} of it: then the claim is held until
 * that has ended, and the future is cancelled where a handler would be interrupted. Or it takes a batch: a
 * {@code List<T>} or {@code List<Message<T>>}, optionally a {@code List<Claim>}; it is then given what it acquired, may
 * throw {@link BatchItemFailures}, and what it returns is ignored. All text attributes take <code>${...}</code>
 * placeholders; those that {@link SqsListener} has, too, also take <code>#{...}</code> expressions over beans.
 *
 * <p>On a class it is for all of the class's {@link io.awspring.cloud.sqs.annotation.SqsHandler} methods, which are one
 * listener: a message goes to the method that takes its payload's type. On an annotation of the application's own it
 * makes that annotation mark listeners.
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

    /** How many messages of a queue are handled at the same time. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxConcurrentMessages")
    String maxConcurrentMessages() default "";

    /** How many messages to ask for in a poll. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxMessagesPerPoll")
    String maxMessagesPerPoll() default "";

    /** How long a poll waits for messages, in whole seconds. */
    @AliasFor(annotation = SqsListener.class, attribute = "pollTimeoutSeconds")
    String pollTimeoutSeconds() default "";

    /** Visibility window of received messages, in whole seconds from 1 to 43,200. Default: the queue's own. */
    @AliasFor(annotation = SqsListener.class, attribute = "messageVisibilitySeconds")
    String messageVisibilitySeconds() default "";

    /**
     * Expression (SpEL) for the idempotency key: over the method's arguments by name, {@code #payload},
     * {@code #message} and {@code #headers}. For methods that take batches it is evaluated for each message, without
     * arguments. Parsed at start-up. It must evaluate to text, a number, a UUID or an enum constant; {@code null} or
     * blank fails the delivery. Without it, the key is the message attribute {@code ExactlyOnce-Key}, else the SQS
     * message id, which covers redelivery only: a resend or a redrive has a new id.
     */
    String key() default "";

    /**
     * Expression (SpEL, like {@link #key()}) for the content that must be the same in all messages of a key: a field, or a list
     * such as <code>"{#order.orderId, #order.amount}"</code>. Its SHA-256 is kept with the claim. A message whose key is completed
     * for other content is treated as {@code on-mismatch} says: refused by default. It must evaluate to text, a number, a UUID, an
     * enum constant or a list of these; anything else fails the delivery. Default: the message's whole body, so that a sender that
     * repeats an order with another timestamp is refused.
     */
    String fingerprint() default "";

    /** Namespace of the key: the same key in two scopes is two claims. Default: the queue's name. */
    String scope() default "";

    /**
     * Longest run of the handler: {@code 5m}, {@code 90s} or ISO ({@code PT5M}), from 1 s to 12 h. At the timeout the
     * handler is interrupted once, and neither its message nor its claim is renewed any more. Interruption is advice: a
     * handler that goes on keeps its key until the claim's lease ends, and may still complete if no other worker has
     * taken the key over. {@code exactly-once.listeners.<id>.timeout} wins over it. Default: no timeout, but nothing is renewed
     * beyond SQS's ceiling of 12 h after the receive.
     */
    String timeout() default "";

    /** What becomes of a key whose earlier attempt died, or was stopped from outside, without reporting an outcome. */
    InDoubtPolicy whenInDoubt() default InDoubtPolicy.RERUN;

    /**
     * Bean name of the {@link Reconciler} that {@link InDoubtPolicy#RECONCILE} asks. Default: the only or primary
     * one.
     */
    String reconciler() default "";

    /**
     * Types of exceptions for which trying again is of no use: a handler that throws one of them is never called again
     * for its key, which is parked instead. The message is not acknowledged, so that it ends in the dead-letter queue.
     * Matched is what the handler threw, taken out of a proxy's wrapper; not its causes.
     */
    Class<? extends Throwable>[] parkFor() default {};

    /**
     * Where the handler's effects happen. {@link Effects#DATABASE} runs the handler, its claim and its completion in
     * one transaction of the application's own, which must be one of the database that keeps the claims: checked at
     * start-up.
     */
    Effects effects() default Effects.EXTERNAL;

    /**
     * {@code observe} for handlers that run as they would without this library, with claims recorded beside them and all
     * counted that enforcing would have prevented; or {@code enforce}. {@code exactly-once.listeners.<id>.mode} wins over it.
     * Default: {@code exactly-once.mode}.
     */
    String mode() default "";

    /**
     * Bean name of the transaction manager for {@link Effects#DATABASE}. Default: the only one, or the primary one.
     * Refused for {@link Effects#EXTERNAL}, which takes none.
     */
    String transactionManager() default "";
}
