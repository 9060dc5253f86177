package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.exactlyonce.sample.IncidentLab;
import io.exactlyonce.sample.lab.Console;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.Keys;

/**
 * The page in a real browser, as the lab goes on: each test begins where the one before it has ended. Screenshots go to
 * {@code target/screenshots}, or where {@code -Dscreenshots} says.
 */
@TestMethodOrder(OrderAnnotation.class)
class LivePageIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int HEIGHT = 1260;
    private static final Path SCREENSHOTS = Path.of(System.getProperty("screenshots", "target/screenshots"));
    private static final String NAIVE = "#naive [data-value=duplicates]";
    private static final String OURS = "#exactlyOnce [data-value=duplicates]";

    private static LiveLab lab;
    private static Browser browser;

    @BeforeAll
    static void open() throws Exception {
        assumeTrue(
                Browser.program().isPresent() && Browser.driverProgram().isPresent(),
                "needs chromium and chromedriver: apt-get install chromium chromium-driver");
        LiveSettings settings = new LiveSettings(0, Duration.ofSeconds(4), 30, Duration.ofSeconds(20));
        lab = LiveLab.start(settings, new Console(System.out, false), IncidentLab.class);
        browser = Browser.open(lab.url());
        browser.view(1200, HEIGHT, 1);
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
        if (lab != null) {
            lab.close();
        }
    }

    @Test
    @Order(1)
    void ordersFlowOnBothSidesAndAllIsExplained() {
        await().atMost(PATIENCE).until(() -> browser.number("#exactlyOnce [data-value=orders]") > 0);
        await().atMost(PATIENCE).until(() -> browser.number("#naive [data-value=orders]") > 0);

        assertThat(browser.text("#story")).isNotBlank();
        assertThat(browser.text("#connection")).isEqualTo("Connected.");
        assertThat(browser.accessibilityViolations()).isEmpty();
    }

    @Test
    @Order(2)
    void naiveSideChargesTwiceOnceHandlersOutlastTheWindowAndOursDoesNot() throws Exception {
        await().atMost(PATIENCE).until(() -> browser.find("#story").getDomAttribute("data-mood"), "bad"::equals);
        await().atMost(PATIENCE).until(() -> browser.number(NAIVE) >= 10);
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=windowRenewals]") > 0);
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));

        assertThat(browser.number(OURS)).isZero();
        assertThat(browser.text("#story")).contains("duplicate charges on the left, 0 on the right");
        assertThat(browser.text("#breach")).matches("breached|now|in \\d+ s|none in sight");
        assertThat(browser.find("#chart").getDomAttribute("aria-label"))
                .matches("p95 of handlers is \\d+ % .* naive side, \\d+ % .* exactly-once side");
        assertThat(browser.number("[data-engine=claims]")).isPositive();
        browser.screenshot(SCREENSHOTS.resolve("lab-light.png"));
        assertThat(browser.accessibilityViolations()).isEmpty();
    }

    @Test
    @Order(3)
    void darkModeCanBeRead() throws Exception {
        browser.prefer("prefers-color-scheme", "dark");

        assertThat(browser.accessibilityViolations()).isEmpty();
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));
        browser.screenshot(SCREENSHOTS.resolve("lab-dark.png"));
    }

    @Test
    @Order(4)
    void phoneShowsBothSidesAtOnceWithoutScrollingSideways() throws Exception {
        browser.view(390, 844, 2);

        assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
        assertThat(
                        browser.run(
                                "return document.querySelector('#exactlyOnce').getBoundingClientRect().right <= 390"
                                        + " && document.querySelector('#exactlyOnce .duplicates').getBoundingClientRect().bottom <= 844"))
                .isEqualTo(true);
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("lab-phone.png"));
        browser.view(1200, HEIGHT, 1);
    }

    /** Also before the chart has followed: a page may be shown, or touched, at any moment. */
    @Test
    @Order(5)
    void pageThatBecomesNarrowerNeverScrollsSideways() {
        for (int turn = 0; turn < 30; turn++) {
            browser.view(1200, HEIGHT, 1);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(1200L);
            browser.view(390, 844, 2);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(390L);
        }
        browser.view(1200, HEIGHT, 1);
    }

    @Test
    @Order(6)
    void everyButtonIsReachedAndPressedByKeyboard() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        browser.press(Keys.TAB);
        assertThat(browser.run("return document.activeElement.className")).isEqualTo("skip");

        press("[data-action=kill]", Keys.ENTER, "Killed, one on each side");
        press("[data-switch=replica]", Keys.SPACE, "The replica lags by 10 s");
        await().atMost(PATIENCE).until(() -> isPressed("[data-switch=replica]"));
        press("[data-action=redeliver]", Keys.ENTER, "All orders of the last minute come once more");
        browser.tabTo("#window");
        assertFocusIsVisible();
        browser.press(Keys.ARROW_DOWN);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith("SQS goes by 8 s"));
        await().atMost(PATIENCE).until(() -> browser.text("#log").contains("the window of both queues is 8 s"));
    }

    @Test
    @Order(7)
    void whatTheLibraryDoesAboutItIsShown() {
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=takeovers]") > 0);
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=honoured]") > 0);
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=turnedAway]") > 0);

        assertThat(browser.text("#log")).contains("is killed with SIGKILL", "delivered once more to both sides");
        assertThat(browser.number(OURS)).isZero();
    }

    @Test
    @Order(8)
    void partnerRecovers() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        press("[data-switch=partner]", Keys.SPACE, "The partner is quick again");

        await().atMost(PATIENCE).until(() -> !isPressed("[data-switch=partner]"));
        assertThat(browser.number(OURS)).isZero();
    }

    @Test
    @Order(9)
    void nothingMovesForThosePersonsWhoDoNotWantIt() {
        browser.prefer("prefers-reduced-motion", "reduce");
        browser.run("document.querySelector('#naive').classList.add('hit')");

        assertThat(browser.run("return getComputedStyle(document.querySelector('#naive')).animationName"))
                .isEqualTo("none");
    }

    @Test
    @Order(10)
    void nothingWasLoadedFromElsewhereAndNothingWentWrong() {
        assertThat((List<?>) browser.run("return performance.getEntriesByType('resource').map(each => each.name)"))
                .isNotEmpty()
                .allMatch(name -> name.toString().startsWith(lab.url().toString()));
        assertThat(browser.complaints()).isEmpty();
    }

    private static void press(String button, Keys key, String answer) {
        browser.tabTo(button);
        assertFocusIsVisible();
        browser.press(key);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith(answer));
    }

    private static void assertFocusIsVisible() {
        assertThat(browser.run("const style = getComputedStyle(document.activeElement);"
                        + "return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2"))
                .as("outline of what has the focus")
                .isEqualTo(true);
    }

    private static boolean isPressed(String button) {
        return "true".equals(browser.find(button).getDomAttribute("aria-pressed"));
    }
}
