# Functions for scripts that use Debian's packages without installing them; sourced, not run.

# Has apt use a suite of Debian, such as trixie, as if nothing were installed, until APT_CONFIG is unset. It keeps its
# files in the given folder, and packages that it downloads in cache/archives below it.
#   use_debian SUITE FOLDER
use_debian() {
    local suite=$1 apt=$2 mirror key='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v -- '-security' | head -n 1)
    [[ -n $mirror ]] || fail "apt knows no mirror"
    mkdir -p "$apt"/{lists,cache/archives}/partial
    printf 'deb %s %s %s main\n' "$key" "$mirror" "$suite" "$key" "$mirror-security" "$suite-security" \
        > "$apt/sources.list"
    : > "$apt/status"
    cat > "$apt/apt.conf" <<CONFIGURATION
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Debug::NoLocking "true";
CONFIGURATION
    export APT_CONFIG=$apt/apt.conf
    apt-get -qq update || fail "apt cannot read the lists of Debian's suite $suite from $mirror"
}
