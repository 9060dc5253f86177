package io.exactlyonce.listener.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.UnusableKeyException;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.messaging.Message;
import org.springframework.messaging.support.GenericMessage;

/** Tests key expressions that call methods of beans. */
class BeansInExpressionsTests {

    record Order(String orderId) {}

    interface KeyMaker {
        String of(Order order);
    }

    static class Keys implements KeyMaker {

        @Override
        public String of(Order order) {
            return "key-" + order.orderId();
        }

        public Instant at(Order order) {
            return Instant.EPOCH;
        }

        public String next() {
            return "next";
        }

        public String getPrefix() {
            return "p-";
        }

        public Object any(Order order) {
            return order.orderId();
        }
    }

    /** A bean class with a method that the declared type of the bean does not have. */
    static class MoreKeys extends Keys {

        public String more(Order order) {
            return "more-" + order.orderId();
        }
    }

    static class KeysFactory implements FactoryBean<Keys> {

        static final AtomicInteger MADE = new AtomicInteger();

        @Override
        public Keys getObject() {
            MADE.incrementAndGet();
            return new Keys();
        }

        @Override
        public Class<?> getObjectType() {
            return Keys.class;
        }

        public String of(Order order) {
            return "factory-" + order.orderId();
        }
    }

    static class MoreKeysFactory implements FactoryBean<Keys> {

        @Override
        public Keys getObject() {
            return new MoreKeys();
        }

        @Override
        public Class<?> getObjectType() {
            return Keys.class;
        }
    }

    interface Handlers {
        void order(Order order);
    }

    private static final Message<?> MESSAGE = new GenericMessage<>(new Order("A-1"));

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

    private KeyExpression key(String expression) {
        return ListenerRig.key(expression, ListenerRig.method(Handlers.class, "order"), beans);
    }

    private void define(Class<?> type) {
        beans.registerBeanDefinition("keys", new RootBeanDefinition(type));
        beans.registerAlias("keys", "com.acme.keys");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            @keys.of(#order)                   | key-A-1
            @keys.of(#payload)                 | key-A-1
            @keys.prefix + #order.orderId      | p-A-1
            @keys.any(#order)                  | A-1
            @'com.acme.keys'.of(#order)        | key-A-1
            @keys.of(#order).concat('/x')      | key-A-1/x
            @keys?.of(#order)                  | key-A-1
            """)
    void beanMakesTheKey(String expression, String key) {
        define(Keys.class);

        assertThat(key(expression).evaluate(MESSAGE)).isEqualTo(key);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            @other.of(#order)      | names the bean '@other', which does not exist
            @'com.acme'.of(#order) | names the bean '@com.acme', which does not exist
            &other.of(#order)      | names the bean '@&other', which does not exist
            @keys.next()           | does not depend on the message
            @keys                  | which cannot be a key
            @keys.at(#order)       | of type java.time.Instant, which cannot be a key
            @keys.off(#order)      | calls the method 'off' with 1 arguments
            @keys.of()             | calls the method 'of' with 0 arguments
            @keys.of(#oder)        | names the unknown argument '#oder'
            """)
    void beanThatMakesNoKeyIsRefused(String expression, String problem) {
        beans.registerSingleton("keys", new Keys());

        assertThatThrownBy(() -> key(expression))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining(problem);
    }

    /** An expression may call a method that only the bean's class declares. */
    @ParameterizedTest
    @ValueSource(strings = {"@keys.more(#order)", "@keys.getPrefix() + @keys.more(#order)"})
    void methodOfABeanThatIsNotMadeYetMayBeOfASubclass(String expression) {
        RootBeanDefinition declared = new RootBeanDefinition(Keys.class, MoreKeys::new);
        beans.registerBeanDefinition("keys", declared);

        KeyExpression key = key(expression);

        assertThat(beans.containsSingleton("keys")).isFalse();
        assertThat(key.evaluate(MESSAGE)).asString().endsWith("more-A-1");
    }

    @Test
    void productOfAFactoryMakesTheKeyAndIsNotMadeAtStartup() {
        define(KeysFactory.class);
        KeysFactory.MADE.set(0);

        KeyExpression key = key("@keys.of(#order)");
        assertThat(KeysFactory.MADE).hasValue(0);

        assertThat(key.evaluate(MESSAGE)).isEqualTo("key-A-1");
        assertThat(key.evaluate(MESSAGE)).isEqualTo("key-A-1");
        assertThat(KeysFactory.MADE).hasValue(1);
        assertThat(key("&keys.of(#order)").evaluate(MESSAGE)).isEqualTo("factory-A-1");
    }

    /** The factory's product may be a subclass of the type that the factory declares. */
    @Test
    void methodOfTheProductOfAFactoryMayBeOfASubclass() {
        define(MoreKeysFactory.class);
        beans.getBean("&keys");

        assertThat(beans.containsSingleton("keys")).isTrue();
        assertThat(key("@keys.more(#order)").evaluate(MESSAGE)).isEqualTo("more-A-1");
    }

    @Test
    void proxiesOfABeanMakeTheKey() {
        ProxyFactory ofInterface = new ProxyFactory(new Keys());
        ofInterface.setProxyTargetClass(false);
        ofInterface.setInterfaces(KeyMaker.class);
        beans.registerSingleton("jdk", ofInterface.getProxy());
        ProxyFactory ofClass = new ProxyFactory(new Keys());
        ofClass.setProxyTargetClass(true);
        beans.registerSingleton("cglib", ofClass.getProxy());
        RootBeanDefinition prototype = new RootBeanDefinition(Keys.class);
        prototype.setScope("prototype");
        BeanDefinitionHolder scoped =
                ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(prototype, "scoped"), beans, true);
        beans.registerBeanDefinition(scoped.getBeanName(), scoped.getBeanDefinition());
        beans.registerBeanDefinition("prototype", prototype.cloneBeanDefinition());

        for (String bean : new String[] {"jdk", "cglib", "scoped", "prototype"}) {
            assertThat(key("@" + bean + ".of(#order)").evaluate(MESSAGE))
                    .as(bean)
                    .isEqualTo("key-A-1");
        }
    }

    @Test
    void beanThatFailsLeavesTheMessageWithoutAKey() {
        beans.registerBeanDefinition("keys", new RootBeanDefinition(Keys.class, () -> {
            throw new IllegalStateException("secret-4111");
        }));

        assertThatThrownBy(() -> key("@keys.of(#order)").evaluate(MESSAGE))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageContaining("key expression '@keys.of(#order)' failed on this message")
                .hasMessageNotContaining("4111");
    }
}
