package io.exactlyonce.listener.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.config.Endpoint;
import io.awspring.cloud.sqs.config.EndpointRegistrar;
import io.awspring.cloud.sqs.config.MessageListenerContainerFactory;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.exactlyonce.ExactlyOnceSetupException;
import io.exactlyonce.delivery.pipeline.Deliveries;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.listener.observed.ObservedListeners;
import io.exactlyonce.listener.startup.ListenerRegistry;
import io.exactlyonce.listener.startup.SharedPools;
import io.exactlyonce.listener.startup.SharedQueues;
import io.exactlyonce.queue.FakeClock;
import io.exactlyonce.queue.ScriptedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.mock.env.MockEnvironment;

class DefaultContainerFactoryTests {

    private static final String USUAL = EndpointRegistrar.DEFAULT_LISTENER_CONTAINER_FACTORY_BEAN_NAME;

    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

    private SqsMessageListenerContainerFactory<Object> factory(String name) {
        SqsMessageListenerContainerFactory<Object> factory = new SqsMessageListenerContainerFactory<>();
        beans.registerSingleton(name, factory);
        return factory;
    }

    private void configurer(String name, SqsListenerConfigurer configurer) {
        beans.registerSingleton(name, configurer);
    }

    private MessageListenerContainerFactory<?> found() {
        return new DefaultContainerFactory(beans).get();
    }

    @Test
    void factoryOfTheUsualNameIsTakenBeforeAnyOther() {
        SqsMessageListenerContainerFactory<Object> other = factory("other");
        assertThat(found()).isSameAs(other);

        SqsMessageListenerContainerFactory<Object> usual = factory(USUAL);
        assertThat(found()).isSameAs(usual);
    }

    @Test
    void factoryOfTheRegistrarIsTakenBeforeTheUsualOne() {
        factory(USUAL);
        SqsMessageListenerContainerFactory<Object> mine = factory("mine");
        configurer("names", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("mine"));
        configurer("adds", registrar -> registrar.manageMessageConverters(converters -> {}));

        assertThat(found()).isSameAs(mine);
    }

    /** The registrar of Spring Cloud AWS also uses the last name that was set. */
    @Test
    void lastOfSeveralConfigurersDecides() {
        factory("first");
        SqsMessageListenerContainerFactory<Object> last = factory("last");
        configurer("a", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("first"));
        configurer("b", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("last"));

        assertThat(found()).isSameAs(last);
    }

    @Test
    void configurersAreCalledOnceForAllContainers() {
        List<EndpointRegistrar> asked = new ArrayList<>();
        factory(USUAL);
        configurer("counts", asked::add);
        DefaultContainerFactory factories = new DefaultContainerFactory(beans);

        factories.get();
        factories.get();

        assertThat(asked).hasSize(1);
    }

    @Test
    void primaryFactoryIsTakenAmongSeveral() {
        factory("other");
        RootBeanDefinition primary = new RootBeanDefinition(SqsMessageListenerContainerFactory.class);
        primary.setPrimary(true);
        beans.registerBeanDefinition("mine", primary);

        assertThat(found()).isSameAs(beans.getBean("mine"));
    }

    @Test
    void severalFactoriesOfWhichNoneIsTheDefaultAreRefused() {
        factory("one");
        factory("other");

        assertThatThrownBy(this::found)
                .isInstanceOfSatisfying(
                        ExactlyOnceSetupException.class,
                        refused -> assertThat(refused.remedy())
                                .contains(
                                        "setDefaultListenerContainerFactoryBeanName",
                                        "@Primary",
                                        "ExactlyOnceContainerFactoryConfigurer#prepare"))
                .hasMessageContaining("one, other");
    }

    @Test
    void startupWithoutAnyFactoryFailsAndItsRemedyIsToDeclareOne() {
        assertThatThrownBy(this::found)
                .isInstanceOfSatisfying(
                        ExactlyOnceSetupException.class,
                        refused -> assertThat(refused.remedy())
                                .contains(
                                        "declare a bean 'defaultSqsListenerContainerFactory'", "SqsAutoConfiguration"));
    }

    @Test
    void nameOfAMissingBeanIsRefused() {
        factory(USUAL);
        configurer("names", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("mine"));

        assertThatThrownBy(this::found)
                .isInstanceOf(ExactlyOnceSetupException.class)
                .hasMessageContaining("names 'mine', and there is no such bean");
    }

    @Test
    void beanOfTheUsualNameThatMakesNoContainersIsRefused() {
        beans.registerSingleton(USUAL, "text");

        assertThatThrownBy(this::found)
                .isInstanceOf(ExactlyOnceSetupException.class)
                .hasMessageContaining("'defaultSqsListenerContainerFactory' is a java.lang.String");
    }

    /** An application may write its own type of factory, for example to delegate to another factory. */
    @Test
    void factoryOfTheApplicationsOwnTypeIsTaken() {
        MessageListenerContainerFactory<MessageListenerContainer<Object>> own =
                new MessageListenerContainerFactory<>() {
                    @Override
                    public MessageListenerContainer<Object> createContainer(String... queues) {
                        throw new UnsupportedOperationException();
                    }

                    @Override
                    public MessageListenerContainer<Object> createContainer(Endpoint endpoint) {
                        throw new UnsupportedOperationException();
                    }
                };
        beans.registerSingleton(USUAL, own);

        assertThat(found()).isSameAs(own);
    }

    private static ContainerPreparation configurer() {
        FakeClock clock = new FakeClock();
        ScriptedStore store = new ScriptedStore();
        Deliveries deliveries = ListenerRig.deliveries(ListenerRig.renewer(store, clock), Duration.ofSeconds(1), clock);
        return new ContainerPreparation(
                new MockEnvironment(),
                false,
                ListenerRig.engine(deliveries, store, Runnable::run),
                new ObservedListeners(() -> {
                    throw new AssertionError("nothing is observed");
                }),
                new SharedQueues(new ListenerRegistry()),
                new SharedPools());
    }

    /** The application's default factory claims keys for every listener, so a plain listener would fail startup. */
    @Test
    void preparedFactoryThatIsTheDefaultIsNotPreparedTwice() {
        SqsMessageListenerContainerFactory<Object> original = new SqsMessageListenerContainerFactory<>();
        beans.registerSingleton("mine", configurer().prepare(original));
        configurer("names", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("mine"));

        assertThat(found()).isSameAs(original);
    }

    @Test
    void ourOwnFactoryAsTheDefaultHasTheUsualOneUnderneath() {
        PreparedContainerFactory ours = (PreparedContainerFactory) configurer().prepareDefault(beans);
        beans.registerSingleton("ours", ours);
        factory("other");
        SqsMessageListenerContainerFactory<Object> usual = factory(USUAL);
        configurer("names", registrar -> registrar.setDefaultListenerContainerFactoryBeanName("ours"));

        assertThat(ours.original()).isSameAs(usual);
    }
}
