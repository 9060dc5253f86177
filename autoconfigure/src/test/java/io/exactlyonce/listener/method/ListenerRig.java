package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.visibility.ScriptedQueue;
import io.exactlyonce.visibility.Subscription;
import io.exactlyonce.visibility.VisibilityWindow;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.MessageBuilder;

/** Messages and methods to test with. */
public final class ListenerRig {

    /** No bean, no transaction manager. */
    /** Beans with a container factory that prepares containers, and without transactions. */
    static ListenerBeans beans(StaticListableBeanFactory beans) {
        beans.addBean(ExactlyOnceListener.CONTAINER_FACTORY, new PreparingFactory());
        return new ListenerBeans(beans, PreparingFactory.class, (manager, named) -> {
            throw new AssertionError("There is no " + manager);
        });
    }

    /** Stands for a container factory that prepares containers for exactly-once handling. */
    static final class PreparingFactory {}

    private ListenerRig() {}

    public static Method method(Class<?> type, String name) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals(name) && !method.isBridge())
                .findFirst()
                .orElseThrow();
    }

    static ListenerDeclaration declared(Class<?> type, String name) {
        return Objects.requireNonNull(ListenerDeclaration.find(type, method(type, name)));
    }

    public static Delivery delivery() {
        Subscription subscription =
                new Subscription("listener", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
        return new Delivery(subscription, "message-id", "handle", 1, 0);
    }

    public static Message<String> message(Map<String, Object> headers) {
        return MessageBuilder.withPayload("payload").copyHeaders(headers).build();
    }

    /** An advisor for what is never called. */
    static ExactlyOnceAdvisor advisor() {
        return new ExactlyOnceAdvisor(
                () -> {
                    throw new IllegalStateException();
                },
                () -> true);
    }
}
