package io.exactlyonce.test.kit.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.test.kit.ExactlyOnceDriver;
import io.exactlyonce.test.kit.ExactlyOnceTest;
import io.exactlyonce.test.kit.TestMessage;
import io.exactlyonce.test.kit.slice.Components.Elsewhere;
import io.exactlyonce.test.kit.slice.Components.Farewells;
import io.exactlyonce.test.kit.slice.Components.Greeter;
import io.exactlyonce.test.kit.slice.Components.Greeting;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.util.ClassUtils;

class ExactlyOnceTestTests {

    @Nested
    @ExactlyOnceTest
    class WithoutNames {

        @Autowired
        private ApplicationContext context;

        @Autowired
        private ExactlyOnceDriver driver;

        @Test
        void findsAllListenersAndNothingElse() {
            assertThat(context.getBeanNamesForType(Greeter.class)).hasSize(1);
            assertThat(context.getBeanNamesForType(Farewells.class)).hasSize(1);
            assertThat(context.getBeanNamesForType(Elsewhere.class)).isEmpty();
            assertThat(context.getBeanNamesForType(DataSource.class)).isEmpty();
        }

        @Test
        void deliversToEach() {
            assertThat(driver.deliver(TestMessage.ofPayload(new Greeting("Ada")).to("greetings")))
                    .wasHandled();
            assertThat(driver.deliver(TestMessage.ofPayload(new Greeting("Ada")).to("farewells")))
                    .wasHandled();
        }
    }

    @Nested
    @ExactlyOnceTest(listeners = Greeter.class)
    class WithNames {

        @Autowired
        private ApplicationContext context;

        @Test
        void findsWhatIsNamed() {
            assertThat(context.getBeanNamesForType(Greeter.class)).hasSize(1);
            assertThat(context.getBeanNamesForType(Farewells.class)).isEmpty();
        }
    }

    /** The configuration of an application has settings for all its listeners, and a test names only some of them. */
    @Nested
    @ExactlyOnceTest(listeners = Greeter.class, properties = "exactly-once.listeners.farewells.retention=30d")
    class WithSettingsOfAListenerThatIsNotNamed {

        @Autowired
        private ExactlyOnceDriver driver;

        @Test
        void startsNevertheless() {
            assertThat(driver.deliverPayload(new Greeting("Ada"))).wasHandled();
        }
    }

    /**
     * Without this refusal, the report would blame a missing transaction manager or bean, or a store that the
     * application has not chosen.
     */
    @Test
    void refusesAListenerWhoseEffectsAreInTheDatabase() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(driver()))
                .withBean(Ledger.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(InvalidListenerException.class)
                        .hasMessageContaining("Ledger has effects = DATABASE, and the test kit keeps claims in memory")
                        .hasMessageContaining("@SpringBootTest"));
    }

    private static Class<?> driver() {
        return ClassUtils.resolveClassName("io.exactlyonce.test.kit.ExactlyOnceDriverAutoConfiguration", null);
    }

    static class Ledger {
        Ledger(DataSource database) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void book(String order) {}
    }
}
