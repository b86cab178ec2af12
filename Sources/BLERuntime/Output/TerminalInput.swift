import Glibc

/// A terminal that passes each key to the program immediately and without echo, even Ctrl-C.
///
/// The terminal's settings are restored by ``restore()`` or when the process exits.
package struct TerminalInput {
    /// The number of columns if the terminal does not report its size.
    private static let usualColumns = 80

    /// The settings that the terminal had before they were changed; `nil` while they are unchanged.
    private static let savedSettings = Locked<termios?>(nil)
    /// The registration of the function that restores the settings at the exit of the process.
    private static let exitHandler: Void = { _ = atexit { Self.restoreSettings() } }()

    /// Changes the settings of the terminal at standard input; returns `nil` if standard input or output is not a
    /// terminal.
    package init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) != 0, isatty(STDOUT_FILENO) != 0, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        Self.savedSettings.withLock { [settings] in $0 = settings }
        Self.exitHandler
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { return nil }
    }

    /// Restores the settings of the terminal.
    package func restore() { Self.restoreSettings() }

    /// Restores the settings without waiting until the terminal has shown all output, which may never happen.
    private static func restoreSettings() {
        guard var settings = savedSettings.withLock({ $0.take() }) else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// The width of the terminal.
    package var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return Self.usualColumns }
        return Int(size.ws_col)
    }
}
