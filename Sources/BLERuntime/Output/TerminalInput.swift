import Glibc

/// A terminal that passes each key to the program at once and without echo, even Ctrl-C, until ``restore()`` is called.
package struct TerminalInput {
    /// The number of columns if the terminal does not report its size.
    private static let usualColumns = 80

    /// The settings that the terminal had before this value was created.
    private let savedSettings: termios

    /// Changes the settings of the terminal at standard input; returns `nil` if standard input or output is not a
    /// terminal.
    package init?() {
        var settings = termios()
        guard isatty(STDIN_FILENO) != 0, isatty(STDOUT_FILENO) != 0, tcgetattr(STDIN_FILENO, &settings) == 0 else {
            return nil
        }
        savedSettings = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        settings.c_iflag &= ~tcflag_t(IXON | ICRNL)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { return nil }
    }

    /// Restores the settings of the terminal.
    package func restore() {
        var settings = savedSettings
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
    }

    /// The width of the terminal.
    package var columns: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return Self.usualColumns }
        return Int(size.ws_col)
    }
}
