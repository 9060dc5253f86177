package io.exactlyonce.test.kit.slice;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.springframework.context.ApplicationContext;

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
            assertThat(driver.deliver(TestMessage.of(new Greeting("Ada")).to("greetings")))
                    .wasHandled();
            assertThat(driver.deliver(TestMessage.of(new Greeting("Ada")).to("farewells")))
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
}
