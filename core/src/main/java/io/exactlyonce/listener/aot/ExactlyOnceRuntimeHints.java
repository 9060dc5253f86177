package io.exactlyonce.listener.aot;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.exactlyonce.ExactlyOnceListener;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.support.GenericMessage;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Registers the proxies, reflection and resources that this library needs in every native image.
 * {@link ListenerAotProcessor} registers what depends on the application's listeners.
 */
final class ExactlyOnceRuntimeHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources().registerResourceBundle("io.exactlyonce.metrics.meters");
        // Spring reads annotations with aliases through JDK proxies.
        hints.proxies()
                .registerJdkProxy(ExactlyOnceListener.class)
                .registerJdkProxy(SqsListener.class)
                .registerJdkProxy(SqsHandler.class);
        // Key expressions may call methods of these types: the message and its headers, and SQS's own message, which is
        // the value of a header.
        Stream.of(
                        org.springframework.messaging.Message.class,
                        MessageHeaders.class,
                        GenericMessage.class,
                        Message.class,
                        MessageAttributeValue.class)
                .forEach(type -> hints.reflection().registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS));
    }
}
