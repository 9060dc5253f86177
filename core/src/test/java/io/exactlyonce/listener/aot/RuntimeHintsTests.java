package io.exactlyonce.listener.aot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.ListenerRig;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.GenerationContext;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.aot.BeanRegistrationCode;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

class RuntimeHintsTests {

    record Order(Customer customer) {

        public String reference() {
            return customer.name();
        }
    }

    record Customer(String name) {}

    record Receipt(int number) {}

    record Placed(String orderId) {}

    static class Listeners {

        @ExactlyOnceListener(queueNames = "one", key = "#order.reference()")
        CompletableFuture<Receipt> one(Order order, Claim claim) {
            return CompletableFuture.completedFuture(new Receipt(1));
        }

        void other(Receipt receipt) {}
    }

    static class Batches {

        @ExactlyOnceListener(queueNames = "many", key = "#payload.customer.name")
        void many(List<Message<Order>> orders, List<Claim> claims) {}
    }

    @ExactlyOnceListener(queueNames = "class", key = "#payload.orderId")
    static class OfClass {

        @SqsHandler
        void placed(Placed placed) {}
    }

    static class Event<E extends Event<E>> {

        public String id() {
            return "E-1";
        }
    }

    static class OfItself {

        @ExactlyOnceListener(queueNames = "raw", key = "#payload.id()")
        @SuppressWarnings("rawtypes")
        void raw(Event event) {}

        @ExactlyOnceListener(queueNames = "variable", key = "#payload.id()")
        <E extends Event<E>> void variable(E event) {}

        @ExactlyOnceListener(queueNames = "wildcard", key = "#payload.id()")
        void wildcard(List<? extends Event<?>> events) {}
    }

    static class Keys {

        public String of(Placed placed) {
            return placed.orderId();
        }
    }

    public static class Hashes {

        public static String of(Object any) {
            return any.toString();
        }
    }

    static class Naming {

        @ExactlyOnceListener(
                queueNames = "named",
                key = "@keys.of(#placed) + T(io.exactlyonce.listener.aot.RuntimeHintsTests$Hashes).of(#placed)",
                fingerprint = "{@missing.x, ${absent}}")
        void named(Placed placed) {}

        @ExactlyOnceListener(queueNames = "wrong", key = "#placed.", fingerprint = "T(com.acme.Missing).of(#placed)")
        void wrong(Placed placed) {}
    }

    static class NoListener {

        void handle(Order order) {}
    }

    @Test
    void resourcesAndProxiesAreFound() {
        RuntimeHints hints = new RuntimeHints();

        one(RuntimeHintsRegistrar.class, ExactlyOnceRuntimeHints.class).registerHints(hints, null);

        assertThat(hints)
                .matches(RuntimeHintsPredicates.resource().forBundle("io.exactlyonce.metrics.meters"))
                .matches(RuntimeHintsPredicates.proxies().forInterfaces(ExactlyOnceListener.class));
    }

    @Test
    void listenersPayloadsAndResultsAreReflectedUpon() {
        RuntimeHints hints = hints(Listeners.class);

        assertThat(hints)
                .matches(invoking(Listeners.class, "one"))
                .matches(RuntimeHintsPredicates.reflection()
                        .onConstructorInvocation(Order.class.getDeclaredConstructors()[0]))
                .matches(invoking(Customer.class, "name"))
                .matches(invoking(Receipt.class, "number"));
        assertThat(invoking(Listeners.class, "other")).rejects(hints);
    }

    @Test
    void payloadsOfBatchesAreReflectedUpon() {
        assertThat(hints(Batches.class))
                .matches(invoking(Batches.class, "many"))
                .matches(invoking(Customer.class, "name"));
    }

    @Test
    void handlersOfAClassAreReflectedUpon() {
        assertThat(hints(OfClass.class))
                .matches(invoking(OfClass.class, "placed"))
                .matches(invoking(Placed.class, "orderId"));
    }

    @Test
    void payloadThatIsGenericInItselfIsReflectedUponOnce() {
        assertThat(hints(OfItself.class)).matches(invoking(Event.class, "id"));
    }

    @Test
    void beansAndClassesThatAnExpressionNamesAreReflectedUpon() {
        assertThat(hints(Naming.class))
                .matches(invoking(Keys.class, "of"))
                .matches(invoking(Hashes.class, "of"))
                .matches(invoking(Naming.class, "wrong"));
    }

    @Test
    void messageOfSqsIsReflectedUpon() {
        RuntimeHints hints = new RuntimeHints();

        one(RuntimeHintsRegistrar.class, ExactlyOnceRuntimeHints.class).registerHints(hints, null);

        assertThat(hints)
                .matches(invoking(software.amazon.awssdk.services.sqs.model.Message.class, "messageAttributes"))
                .matches(invoking(MessageAttributeValue.class, "stringValue"));
    }

    @Test
    void otherBeansAreLeftAlone() {
        assertThat(contribution(NoListener.class)).isNull();
    }

    private static Predicate<RuntimeHints> invoking(Class<?> type, String method) {
        return RuntimeHintsPredicates.reflection().onMethodInvocation(ListenerRig.method(type, method));
    }

    private static RuntimeHints hints(Class<?> listener) {
        RuntimeHints hints = new RuntimeHints();
        GenerationContext context = mock(GenerationContext.class);
        when(context.getRuntimeHints()).thenReturn(hints);
        contribution(listener).applyTo(context, mock(BeanRegistrationCode.class));
        return hints;
    }

    private static BeanRegistrationAotContribution contribution(Class<?> type) {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerBeanDefinition("bean", new RootBeanDefinition(type));
        beans.registerBeanDefinition("keys", new RootBeanDefinition(Keys.class));
        BeanRegistrationAotProcessor processor = one(BeanRegistrationAotProcessor.class, ListenerAotProcessor.class);
        return processor.processAheadOfTime(RegisteredBean.of(beans, "bean"));
    }

    /** Ignores factories that fail to load, because services of other libraries may need absent classes. */
    private static <T> T one(Class<T> kind, Class<? extends T> own) {
        return SpringFactoriesLoader.forResourceLocation(AotServices.FACTORIES_RESOURCE_LOCATION)
                .load(kind, (factory, name, failure) -> {})
                .stream()
                .filter(own::isInstance)
                .findFirst()
                .orElseThrow();
    }
}
