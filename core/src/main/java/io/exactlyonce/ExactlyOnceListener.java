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
 * claim's lease are renewed. After the method has returned, the claim is completed, and only then is the message
 * deleted. If the claim is lost, the method is interrupted, and its result is discarded.
 *
 * <p>If the key is already completed, the message is deleted without calling the method. If another delivery owns the
 * key, this delivery waits: its message stays invisible, and no thread is used.
 *
 * <p>A worker can crash after an effect in another system and before the claim is completed. The next attempt then sees
 * {@link Claim#isInDoubt()}. Pass {@link Claim#downstreamKey()} to every system you call, so that the system can
 * recognize the repeated call.
 *
 * <p>The method takes one message: its payload, optionally headers, the {@code Message}, and a {@link Claim}. The
 * method may return a value, which is stored with the claim, or a {@code CompletableFuture} of such a value. The claim
 * is held until the future completes. If the claim is lost, the timeout expires or the listener stops, the future is
 * cancelled.
 *
 * <p>A method that takes a batch has a {@code List<T>} or {@code List<Message<T>>}, and optionally a {@code
 * List<Claim>}. The method gets the messages whose keys were acquired. It may return a {@link BatchResult} that names
 * the failed messages; any other result is ignored.
 *
 * <p>All text attributes support <code>${...}</code> placeholders. The queue names, {@link #maxConcurrentMessages()},
 * {@link #maxMessagesPerPoll()}, {@link #pollTimeoutSeconds()} and {@link #messageVisibilitySeconds()} also support
 * <code>#{...}</code> expressions over beans.
 *
 * <p>An annotated class is one listener with all its {@link io.awspring.cloud.sqs.annotation.SqsHandler} methods: a
 * message goes to the method that takes its payload's type. An annotation of your own can have this annotation as a
 * meta-annotation.
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

    /** Bean name of the library's container factory, which prepares listener containers for exactly-once handling. */
    String CONTAINER_FACTORY = "exactlyOnceListenerContainerFactory";

    /**
     * Names, URLs or ARNs of the queues to listen to. Either all of them are standard queues, or all of them are FIFO
     * queues.
     */
    @AliasFor(annotation = SqsListener.class, attribute = "value")
    String[] value() default {};

    /**
     * Names, URLs or ARNs of the queues to listen to. Either all of them are standard queues, or all of them are FIFO
     * queues.
     */
    @AliasFor(annotation = SqsListener.class, attribute = "queueNames")
    String[] queueNames() default {};

    /**
     * Id of the listener, which is the value of the {@code listener} tag on every meter. If empty, an id is generated.
     */
    @AliasFor(annotation = SqsListener.class, attribute = "id")
    String id() default "";

    /** Bean name of the container factory, which must prepare containers for exactly-once handling. */
    @AliasFor(annotation = SqsListener.class, attribute = "factory")
    String factory() default CONTAINER_FACTORY;

    /** Maximum number of messages that are handled at the same time, for each queue. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxConcurrentMessages")
    String maxConcurrentMessages() default "";

    /** Maximum number of messages per poll. */
    @AliasFor(annotation = SqsListener.class, attribute = "maxMessagesPerPoll")
    String maxMessagesPerPoll() default "";

    /** Maximum time for which a poll waits for messages, in whole seconds. */
    @AliasFor(annotation = SqsListener.class, attribute = "pollTimeoutSeconds")
    String pollTimeoutSeconds() default "";

    /**
     * Visibility timeout of received messages, in whole seconds from 1 to 43,200. Default: the queue's visibility
     * timeout.
     */
    @AliasFor(annotation = SqsListener.class, attribute = "messageVisibilitySeconds")
    String messageVisibilitySeconds() default "";

    /**
     * SpEL expression for the idempotency key. The expression may use the method's parameters by name, {@code
     * #payload}, {@code #message} and {@code #headers}. In a batch listener, the expression is evaluated for each
     * message, and may use only {@code #payload}, {@code #message} and {@code #headers}. The result must be text, a
     * number, a UUID or an enum constant. If the result is {@code null} or blank, {@link #whenKeyMissing()} decides.
     *
     * <p>Default: the message attribute {@code ExactlyOnce-Key}, or else the SQS message ID. A message ID only detects
     * redeliveries, because a message that is sent again or redriven gets a new ID.
     */
    String key() default "";

    /**
     * SpEL expression for the content that must be equal in all messages of a key (for example
     * <code>"{#order.orderId, #order.amount}"</code>). The expression may use the same variables as {@link #key()}. The
     * result must be text, a number, a UUID, an enum constant or a list of these; anything else fails the delivery.
     *
     * <p>The claim stores the SHA-256 of the content. If a message's key is completed for other content, {@link
     * #onMismatch()} decides; by default the message is rejected.
     *
     * <p>Default: the message's body. Two JSON bodies are equal if they differ only in white space, escapes or the
     * order of fields. If the body is an SNS notification, the published message, its subject and its topic's name are
     * compared. With this default, a message that repeats an order with another timestamp is rejected.
     */
    String fingerprint() default "";

    /** Namespace of the key: the same key in two scopes has two claims. Default: the queue's name. */
    String scope() default "";

    /**
     * Maximum run time of the handler, from 1 s to 12 h: {@code 5m}, {@code 90s} or ISO ({@code PT5M}). At the timeout,
     * the handler is interrupted once, and its message and claim are no longer renewed. A handler that ignores the
     * interrupt keeps its key until the lease expires. When such a handler returns, its claim is still completed,
     * unless another worker has taken the key over.
     *
     * <p>The property {@code exactly-once.listeners.<id>.timeout} overrides this attribute. Default: no timeout.
     * Renewal then ends 12 h after the receive, which is SQS's limit.
     */
    String timeout() default "";

    /** Policy for a key in doubt. An earlier attempt at such a key died or was stopped, and its outcome is unknown. */
    InDoubtPolicy whenInDoubt() default InDoubtPolicy.RERUN;

    /**
     * Bean name of the {@link Reconciler} that {@link InDoubtPolicy#RECONCILE} calls. Default: the only
     * {@code Reconciler} bean, or the primary one.
     */
    String reconciler() default "";

    /**
     * Exception types for which a retry is useless. If the handler throws such an exception, its key is parked, and the
     * handler is not called for the key until an operator decides. The message is not deleted, so it ends in the
     * dead-letter queue.
     *
     * <p>Subclasses of these types count as well. Only the exception that the handler throws counts, and not the causes
     * of this exception. If a proxy around the handler wraps the exception in an {@code UndeclaredThrowableException},
     * the wrapper is ignored.
     */
    Class<? extends Throwable>[] parkFor() default {};

    /**
     * Says where the handler's effects happen. With {@link Effects#DATABASE}, one application transaction contains the
     * claim, the handler's writes and the completion. Startup fails if this transaction does not use the database that
     * stores the claims.
     */
    Effects effects() default Effects.EXTERNAL;

    /**
     * Says whether the handler waits for its claim. With {@link ClaimMode#OBSERVE}, the handler runs as under {@code
     * @SqsListener}. The library records claims in the background, and counts the duplicates that claims would have
     * prevented. The property {@code exactly-once.listeners.<id>.mode} overrides this attribute.
     */
    ClaimMode mode() default ClaimMode.AS_CONFIGURED;

    /**
     * Bean name of the transaction manager for {@link Effects#DATABASE}. Default: the only one, or the primary one.
     * With {@link Effects#EXTERNAL}, startup fails if this attribute is set, because no transaction manager is used.
     */
    String transactionManager() default "";

    /**
     * Policy for a message whose key is completed for other content. {@link #fingerprint()} says which content is
     * compared. The property {@code exactly-once.listeners.<id>.on-mismatch} overrides this attribute.
     */
    MismatchPolicy onMismatch() default MismatchPolicy.AS_CONFIGURED;

    /**
     * Policy for a message for which {@link #key()} finds no key. The property {@code
     * exactly-once.listeners.<id>.when-key-missing} overrides this attribute.
     *
     * <p>Startup fails in two cases:
     *
     * <ul>
     *   <li>for a policy other than {@link MissingKeyPolicy#REFUSE} if {@link #key()} is not set, because the default
     *       key is never missing
     *   <li>for {@link MissingKeyPolicy#RUN_UNPROTECTED} with {@link Effects#DATABASE}, because such a handler needs
     *       the transaction of its claim
     * </ul>
     */
    MissingKeyPolicy whenKeyMissing() default MissingKeyPolicy.REFUSE;

    /**
     * Number of attempts that may throw an exception before the key is parked. The last of these exceptions is stored
     * as the reason for parking. Default: 0, which means any number. The property
     * {@code exactly-once.listeners.<id>.max-attempts} overrides this attribute.
     *
     * <p>Attempts that were stopped, that crashed, or that lost their claim do not count. An operator's release sets
     * the count to 0. With {@link Effects#DATABASE}, the receives of the message are counted instead of attempts,
     * because an attempt that was rolled back leaves no trace.
     */
    int maxAttempts() default 0;
}
