package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.InDoubtPolicy;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class InDoubtSettingsTests {

    private final InDoubtSettings policy = new InDoubtSettings(InDoubtPolicy.RERUN, null, List.of(IOException.class));

    /**
     * The type of the thrown exception decides, and not the type of its cause. An exception that a proxy wrapped is
     * unwrapped first.
     */
    static Stream<Arguments> parksForItsTypesAndTheirSubtypes() {
        IOException named = new IOException();
        return Stream.of(
                Arguments.of(named, true),
                Arguments.of(new FileNotFoundException(), true),
                Arguments.of(new IllegalStateException(named), false),
                Arguments.of(new UndeclaredThrowableException(named), true),
                Arguments.of(new UndeclaredThrowableException(new InvocationTargetException(named)), true),
                Arguments.of(new UndeclaredThrowableException(null), false));
    }

    @ParameterizedTest
    @MethodSource
    void parksForItsTypesAndTheirSubtypes(Throwable thrown, boolean parks) {
        assertThat(policy.parksFor(thrown)).isEqualTo(parks);
        assertThat(InDoubtSettings.RERUN.parksFor(thrown)).isFalse();
    }
}
