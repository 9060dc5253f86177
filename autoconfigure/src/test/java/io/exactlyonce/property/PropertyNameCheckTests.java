package io.exactlyonce.property;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.shop.ShopProperties;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/** The check leaves an application as it would be without it. */
class PropertyNameCheckTests {

    private final ApplicationContextRunner application =
            new ApplicationContextRunner().withUserConfiguration(Check.class);

    @Configuration(proxyBeanMethods = false)
    static class Check {
        @Bean
        static PropertyNameCheck check(ConfigurableEnvironment environment) {
            return new PropertyNameCheck(environment);
        }
    }

    /** Does not tell its type before it is made, as those of many libraries. */
    @SuppressWarnings("rawtypes")
    static class Clients implements FactoryBean {

        @Autowired
        private ConfigurableEnvironment injected;

        @Override
        public Object getObject() {
            return injected.getProperty("spring.application.name", "none");
        }

        @Override
        public Class<?> getObjectType() {
            return injected == null ? null : String.class;
        }
    }

    @Test
    void factoriesOfBeansAreNotMadeBeforeTheyCanBeInjected() {
        application.withBean("clients", Clients.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean("clients")).isEqualTo("none");
        });
    }

    @EnableConfigurationProperties(ShopProperties.class)
    static class Shop {}

    @Test
    void applicationsOwnPropertiesAreWhatSpringMakesOfThem() {
        application
                .withUserConfiguration(Shop.class)
                .withPropertyValues(
                        "exactly-once.shop.till.drawers=2",
                        "exactly-once.shop.class=small",
                        "exactly-once.shop.queues[0]=orders",
                        "exactly-once.shop.limit=")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    ShopProperties shop = context.getBean(ShopProperties.class);
                    assertThat(shop.till().getDrawers()).isEqualTo(2);
                    assertThat(shop.type()).isEqualTo("small");
                    assertThat(shop.queues()).containsExactly("orders");
                    assertThat(shop.limit()).isNull();
                });
    }
}
