package io.exactlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import org.junit.jupiter.api.Test;

/** The engine does not depend on Spring Boot. */
class SpringBootIsAbsentTests {

    @Test
    void springBootIsNotOnTheClassPathOfTheEngineOrOfItsTests() {
        assertThatThrownBy(() -> Class.forName("org.springframework.boot.SpringApplication"))
                .isInstanceOf(ClassNotFoundException.class);
        assertThat(System.getProperty("java.class.path").split(File.pathSeparator))
                .hasSizeGreaterThan(1)
                .noneMatch(entry -> entry.contains("spring-boot"));
    }
}
