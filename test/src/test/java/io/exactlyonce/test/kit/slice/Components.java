package io.exactlyonce.test.kit.slice;

import io.exactlyonce.ExactlyOnceListener;
import org.springframework.stereotype.Component;

/** Components that a scan finds in addition to {@link SliceApplication}. */
final class Components {

    private Components() {}

    record Greeting(String name) {}

    @Component
    static class Greeter {

        @ExactlyOnceListener(queueNames = "greetings", key = "#greeting.name")
        void greet(Greeting greeting) {}
    }

    @Component
    static class Farewells {

        @ExactlyOnceListener(queueNames = "farewells", key = "#farewell.name")
        void say(Greeting farewell) {}
    }

    /** A component that would not start in a test, because its dependencies are missing. */
    @Component
    static class Elsewhere {

        Elsewhere(Runnable notThere) {
            notThere.run();
        }
    }
}
